#pragma once

#include "kernels/base/clock.hpp"

#include <cstdint>
#include <functional>

namespace troupe::batching {

/// How many rows a batch may have so that answers keep to an objective. A request that comes just
/// after a batch has left waits for that batch and then for its own: a batch may take half of the
/// objective. A batch that took longer than it was allowed to halves what the next ones may take;
/// each one in time gives a tenth back. Not thread-safe.
class adaptive_size {
public:
  /// `objective`: from arrival to answer; 0: none, sizes stay at `most`.
  adaptive_size(duration objective, std::int64_t most);

  /// The largest size whose expected time is within what is allowed; never less than one row, and
  /// never less than what is about as fast as one row.
  /// `estimate(rows)` is what a batch is expected to take; nothing is known if it is null.
  [[nodiscard]] std::int64_t rows(const std::function<duration(std::int64_t)>& estimate) const;

  /// A batch of `rows` rows took this long.
  void ran(std::int64_t rows, duration took);

private:
  [[nodiscard]] duration allowed() const;

  duration objective_;
  std::int64_t most_;
  double share_ = 1; ///< of what the objective allows
};

} // namespace troupe::batching
