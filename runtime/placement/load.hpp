#pragma once

#include "runtime/placement/latency_profile.hpp"

#include <cstdint>
#include <mutex>

namespace troupe::placement {

/// What is known of one placement's work at this moment. Thread-safe: its batcher writes, the
/// router and the device read.
class load {
public:
  /// A new batcher begins: nothing is queued and nothing runs.
  void restart();
  void set_queued(std::int64_t rows);
  void batch_started(std::int64_t rows, time_point now);
  void batch_ended(std::int64_t rows);
  /// What a run of `rows` rows took on the device.
  void record_run(std::int64_t rows, duration took);

  /// When a request of `rows` that arrives now would be answered.
  [[nodiscard]] time_point estimated_completion(std::int64_t rows, time_point now) const;
  /// The same for one that only `ahead` of the waiting rows go before.
  [[nodiscard]] time_point estimated_completion_after(std::int64_t ahead, std::int64_t rows,
                                                      time_point now) const;
  [[nodiscard]] duration estimated_run(std::int64_t rows) const;
  [[nodiscard]] latency_profile profile() const;

private:
  [[nodiscard]] time_point expected(std::int64_t rows, time_point now) const; // locked

  mutable std::mutex mutex_;
  latency_profile profile_;
  std::int64_t queued_rows_ = 0;
  std::int64_t running_rows_ = 0;
  time_point running_since_{};
};

} // namespace troupe::placement
