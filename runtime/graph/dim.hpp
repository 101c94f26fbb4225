#pragma once

#include "kernels/tensor/shape.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace troupe::graph {

/// Size of an axis: a number, or a symbol that stands for one not known yet. Two axes with the same
/// symbol are equal; nothing else is known about symbols.
class dim {
public:
  constexpr dim() = default;
  constexpr dim(std::int64_t size) : size_(size) {} // NOLINT: a size is a dim

  [[nodiscard]] static constexpr dim symbol(std::uint32_t id) {
    dim made;
    made.size_ = -1;
    made.symbol_ = id;
    return made;
  }

  [[nodiscard]] constexpr bool known() const noexcept { return size_ >= 0; }
  /// Only if `known()`.
  [[nodiscard]] constexpr std::int64_t size() const noexcept { return size_; }
  /// Only if not `known()`.
  [[nodiscard]] constexpr std::uint32_t symbol() const noexcept { return symbol_; }

  friend constexpr bool operator==(const dim&, const dim&) = default;

private:
  std::int64_t size_ = 0;
  std::uint32_t symbol_ = 0;
};

using symbolic_shape = small_vector<dim, 6>;

/// The sizes, if every axis is known.
[[nodiscard]] std::optional<shape> concrete(std::span<const dim> dims);
[[nodiscard]] symbolic_shape symbolic(std::span<const std::int64_t> dims);

} // namespace troupe::graph
