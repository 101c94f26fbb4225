#pragma once

#include "kernels/base/clock.hpp"

#include <cstdint>
#include <map>

namespace troupe::placement {

/// How long batches of a placement take, learned from those that ran: a moving average per batch
/// size. Not thread-safe.
class latency_profile {
public:
  void record(std::int64_t rows, duration took);

  /// Expected time of a batch of `rows`: the average where one was seen, otherwise a line through
  /// the neighbours; below the smallest seen its time, beyond the largest in proportion; 1 ms
  /// before anything ran.
  [[nodiscard]] duration estimate(std::int64_t rows) const;

  [[nodiscard]] bool empty() const noexcept { return seen_.empty(); }

private:
  std::map<std::int64_t, double> seen_; // nanoseconds by rows
};

} // namespace troupe::placement
