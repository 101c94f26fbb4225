#pragma once

#include "kernels/base/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace troupe::placement {

/// How long batches of a placement take, learned from those that ran: a moving average per batch
/// size. Not thread-safe.
class latency_profile {
public:
  void record(std::int64_t rows, duration took);

  /// Expected time of a batch of `rows`: the average where one was seen, otherwise a line through
  /// the neighbours; below the smallest seen its time, beyond the largest in proportion. Before
  /// anything ran, 1 ms a row: a placement that is not known looks better the less waits for it,
  /// and never so good that everything goes there.
  [[nodiscard]] duration estimate(std::int64_t rows) const;

  /// What batches of exactly `rows` take, the middle one of the last three. None if there was no
  /// such batch lately: a size that lost by what it took once is tried again some time.
  [[nodiscard]] std::optional<duration> measured(std::int64_t rows) const;

  [[nodiscard]] bool empty() const noexcept { return seen_.empty(); }

private:
  struct seen {
    double average = 0; ///< in nanoseconds, as the others
    std::array<double, 3> last{};
    std::uint64_t rows_before = 0; ///< that had run when the last of these did
  };

  [[nodiscard]] bool forgotten(std::int64_t rows, const seen& one) const noexcept;

  std::map<std::int64_t, seen> seen_; ///< by rows
  std::uint64_t rows_ = 0;            ///< that have run
};

/// Profiles by the shapes of the inputs (a hash of types and dims without axis 0): rows of 512
/// tokens take longer than rows of 16. Keeps the shapes that ran last. Not thread-safe.
class shape_profiles {
public:
  void record(std::size_t shape, std::int64_t rows, duration took);

  /// By this shape's own profile; of one that has not run, by that of all shapes together.
  [[nodiscard]] duration estimate(std::size_t shape, std::int64_t rows) const;

  /// What batches of exactly `rows` rows of this very shape took.
  [[nodiscard]] std::optional<duration> measured(std::size_t shape, std::int64_t rows) const;

  /// Of all shapes together.
  [[nodiscard]] const latency_profile& overall() const noexcept { return overall_; }

private:
  struct profile_of_shape {
    latency_profile profile;
    std::uint64_t last = 0;
  };

  static constexpr std::size_t max_shapes = 64;

  latency_profile overall_;
  std::unordered_map<std::size_t, profile_of_shape> by_shape_;
  std::uint64_t recorded_ = 0;
};

} // namespace troupe::placement
