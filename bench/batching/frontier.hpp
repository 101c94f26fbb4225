#pragma once

// Which latency at which throughput a batching policy gives on a device of known capacity.

#include "actors/simulation/scenario.hpp"
#include "bench/batching/arrivals.hpp"

#include <string>
#include <vector>

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

/// One point: a policy under one load.
struct point {
  std::string device;
  std::string pattern;
  std::string policy;
  double objective_ms = 0; ///< 0: none
  double load = 0;         ///< of the device's capacity
  double rate = 0;         ///< requests a second, one row each

  double throughput = 0; ///< answers a second
  double goodput = 0;    ///< of them within the objective; without one, all
  double in_time = 0;    ///< share of all requests that are answered within the objective
  double refused = 0;    ///< share
  double expired = 0;    ///< share, after they had waited
  double busy = 0;       ///< share of the time
  double rows = 0;       ///< of a batch, on average
  double mean_ms = 0;
  double p50_ms = 0;
  double p99_ms = 0;
};

/// `objective`: 0 or the device's. Requests bring no deadline of their own.
[[nodiscard]] result<point> measure(const bench_device& on, const std::string& pattern,
                                    const std::string& policy, double load, duration objective,
                                    std::uint64_t seed);

} // namespace troupe::bench
