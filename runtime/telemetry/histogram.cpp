#include "runtime/telemetry/histogram.hpp"

#include <algorithm>
#include <bit>

namespace troupe::telemetry {

// Values below 4 have a bucket each; above, the two bits after the leading one choose the quarter.
std::size_t histogram::bucket_of(std::uint64_t value) noexcept {
  if (value < 4)
    return static_cast<std::size_t>(value);
  const auto power = static_cast<std::size_t>(std::bit_width(value)) - 1;
  const auto quarter = static_cast<std::size_t>(value >> (power - 2)) & 3;
  return 4 * (power - 1) + quarter;
}

std::uint64_t histogram::lower_bound_of(std::size_t bucket) noexcept {
  if (bucket < 4)
    return bucket;
  const auto power = bucket / 4 + 1;
  return (std::uint64_t{4} + bucket % 4) << (power - 2);
}

void histogram::record(std::uint64_t value) noexcept {
  ++counts_[bucket_of(value)];
  ++count_;
  sum_ += value;
}

std::uint64_t histogram::quantile(double q) const noexcept {
  if (count_ == 0)
    return 0;
  const auto wanted = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_) + 0.5));
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    passed += counts_[i];
    if (passed >= wanted) {
      const auto low = lower_bound_of(i);
      const auto high = i + 1 < buckets ? lower_bound_of(i + 1) : low;
      return low + (high > low ? (high - low - 1) / 2 : 0);
    }
  }
  return 0;
}

} // namespace troupe::telemetry
