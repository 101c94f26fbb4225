#pragma once

#include "kernels/base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

namespace troupe::actors::simulation {

/// How long runs took, by model, device, shape and rows.
class run_times {
public:
  void add(std::size_t model, std::size_t device, std::size_t shape, std::int64_t rows,
           duration took);

  [[nodiscard]] bool knows(std::size_t model) const;

  /// A time for a run like these: one of those measured for this size; for a size that never ran,
  /// between its neighbours, and beyond the largest in proportion. A shape that the device never
  /// ran takes as long as it took elsewhere, or as other shapes did here. `model` is known.
  [[nodiscard]] duration draw(std::size_t model, std::size_t device, std::size_t shape,
                              std::int64_t rows, std::mt19937_64& dice) const;

private:
  using sizes = std::map<std::int64_t, std::vector<duration>>;
  using key = std::tuple<std::size_t, std::size_t, std::size_t>; // model, device, shape

  static constexpr std::size_t any = ~std::size_t{0};
  static constexpr std::size_t kept = 512; ///< times of one size

  void keep(const key& of, std::int64_t rows, duration took);
  [[nodiscard]] const sizes& closest(std::size_t model, std::size_t device,
                                     std::size_t shape) const;

  std::map<key, sizes> seen_; ///< also with `any` device, any shape, and both
  std::mt19937_64 dice_{1};
};

} // namespace troupe::actors::simulation
