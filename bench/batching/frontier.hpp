#pragma once

// Which latency at which throughput a batching policy gives on a device of known capacity.

#include "bench/batching/point.hpp"

#include <string>

namespace troupe::bench {

/// A device that takes launch + rows * row for a batch of up to `max_batch` rows.
struct bench_device {
  std::string name;
  duration launch{0};
  duration row{0};
  std::int64_t max_batch = 256;
  duration objective{0}; ///< for the runs that have one

  [[nodiscard]] duration cost(std::int64_t rows) const { return launch + rows * row; }
  /// Rows a second in batches of that size.
  [[nodiscard]] double capacity(std::int64_t rows) const;
  [[nodiscard]] double capacity() const { return capacity(max_batch); }
};

/// `objective`: 0 or the device's. Requests bring no deadline of their own.
[[nodiscard]] result<point> measure(const bench_device& on, const std::string& pattern,
                                    const std::string& policy, double load, duration objective,
                                    std::uint64_t seed);

} // namespace troupe::bench
