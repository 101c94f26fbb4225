#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace troupe::telemetry {

/// Counts of values in buckets that grow by a quarter of a power of two: a quantile is off by at
/// most an eighth. Fixed size, no allocation. Not thread-safe.
class histogram {
public:
  void record(std::uint64_t value) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
  /// The middle of the bucket in which the q-th of all values lies, 0 <= q <= 1; 0 when empty.
  [[nodiscard]] std::uint64_t quantile(double q) const noexcept;

private:
  static constexpr std::size_t buckets = 4 * 64;
  static std::size_t bucket_of(std::uint64_t value) noexcept;
  static std::uint64_t lower_bound_of(std::size_t bucket) noexcept;

  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
};

} // namespace troupe::telemetry
