#pragma once

#include "kernels/op/attributes.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace troupe::cpu {

/// A stream of random numbers without state: number `i` is SplitMix64's finalizer (Steele, Lea and
/// Flood, "Fast splittable pseudorandom number generators", 2014) of the key and `i`. So any part
/// of a tensor can be drawn by any thread, and a key gives the same numbers on every machine.
class random_stream {
public:
  explicit random_stream(std::uint64_t key) noexcept : key_{key} {}

  /// Evenly in [0, 1), in steps of 2^-53.
  [[nodiscard]] double uniform(std::uint64_t i) const noexcept;
  /// Of mean 0 and deviation 1, by Box and Muller's method: each takes two uniform numbers.
  [[nodiscard]] double normal(std::uint64_t i) const noexcept;

private:
  std::uint64_t key_;
};

/// Where a node's streams come from. With the attribute `seed` every launch draws the same numbers,
/// those of that seed; without it each launch has a key of its own, begun from the system's
/// entropy. Copies share; any thread.
class random_source {
public:
  explicit random_source(const attribute_map& attributes);

  [[nodiscard]] random_stream next() const noexcept;

private:
  std::uint64_t seed_ = 0;
  std::shared_ptr<std::atomic<std::uint64_t>> launches_; // null where there is a seed
};

} // namespace troupe::cpu
