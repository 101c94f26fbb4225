#pragma once

#include "kernels/base/clock.hpp"
#include "runtime/telemetry/histogram.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace troupe::telemetry {

/// How often something happened and how long it took altogether.
struct total {
  std::uint64_t count = 0;
  duration time{0};

  void add(duration took) noexcept {
    ++count;
    time += took;
  }
};

/// Where one request's time went.
struct request_times {
  duration whole{0};
  duration queue{0};
  duration input{0};
  duration infer{0};
  duration output{0};
};

/// The numbers of one model version. Thread-safe; copied out for reports.
class probe {
public:
  struct numbers {
    std::uint64_t rows_answered = 0;
    std::uint64_t batches = 0;
    std::uint64_t rejected = 0; ///< refused at a full queue; part of `fail`
    std::uint64_t retried = 0;  ///< requests run a second time
    std::int64_t queued_rows = 0;
    total success, fail, queue, input, infer, output;
    std::map<std::int64_t, total> by_rows; ///< batches by their rows, with the time they ran
    histogram latency_us;                  ///< of successful requests
  };

  void answered(std::int64_t rows, const request_times& spent);
  void failed(duration whole);
  void rejected();
  void retried(std::uint64_t requests);
  void batch_ran(std::int64_t rows, duration took);
  void queue_depth(std::int64_t rows);

  [[nodiscard]] numbers read() const;

private:
  mutable std::mutex mutex_;
  numbers now_;
};

} // namespace troupe::telemetry
