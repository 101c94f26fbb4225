#pragma once

#include "kernels/base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace troupe::batching {

/// How many rows come to a queue lately: those that came between batches that left, over the time
/// that was; each departure counts for less than the next. Not thread-safe.
class arrival_rate {
public:
  void came(std::int64_t rows) noexcept { since_ += rows; }

  /// A batch leaves.
  void departed(time_point at) noexcept {
    if (at <= last_)
      return;
    if (last_ != time_point{}) {
      rows_ = keeps * rows_ + static_cast<double>(since_);
      time_ = keeps * time_ + static_cast<double>(std::min<duration>(at - last_, longest).count());
    }
    since_ = 0;
    last_ = at;
  }

  /// Rows a nanosecond; 0 before the second departure.
  [[nodiscard]] double per_ns() const noexcept { return time_ > 0 ? rows_ / time_ : 0; }

private:
  static constexpr double keeps = 0.75;             ///< of what was, with each departure
  static constexpr std::chrono::seconds longest{1}; ///< that one silence counts

  std::int64_t since_ = 0; ///< the last departure
  time_point last_{};
  double rows_ = 0;
  double time_ = 0;
};

} // namespace troupe::batching
