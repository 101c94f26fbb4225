#pragma once

#include "kernels/tensor/tensor.hpp"
#include "runtime/graph/dim.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace troupe::graph {

/// One element of a small integer tensor, as far as it is known: a number, the size of an axis that
/// has a symbol, or nothing. This is how a symbolic dim travels through Shape, Slice, Concat to
/// Reshape.
class element {
public:
  constexpr element() = default; ///< nothing is known
  constexpr element(std::int64_t number) : what_{kind::number}, number_{number} {} // NOLINT
  constexpr element(dim size)                                                      // NOLINT
      : what_{size.known() ? kind::number : kind::size}, number_{size.known() ? size.size() : 0},
        symbol_{size.known() ? 0 : size.symbol()} {}

  [[nodiscard]] constexpr bool is_number() const noexcept { return what_ == kind::number; }
  [[nodiscard]] constexpr bool is_known() const noexcept { return what_ != kind::unknown; }
  /// Only if `is_number()`.
  [[nodiscard]] constexpr std::int64_t number() const noexcept { return number_; }
  /// Only if `is_known()` and, for a number, if it is not negative.
  [[nodiscard]] constexpr dim size() const noexcept {
    return is_number() ? dim{number_} : dim::symbol(symbol_);
  }

  friend constexpr bool operator==(const element&, const element&) = default;

private:
  enum class kind : std::uint8_t { unknown, number, size };
  kind what_ = kind::unknown;
  std::int64_t number_ = 0;
  std::uint32_t symbol_ = 0;
};

/// Content longer than this is not tracked element by element.
inline constexpr std::int64_t max_tracked_elements = 256;

/// Elements of a tensor of integers or booleans of rank 0 or 1 and at most `max_tracked_elements`;
/// empty for any other.
[[nodiscard]] std::vector<element> elements_of_constant(const tensor& content);

/// A tensor with these numbers; null if one is not a number, does not fit, or `type` is not
/// an integer or boolean type.
[[nodiscard]] std::shared_ptr<const tensor> constant_of_elements(dtype type,
                                                                 std::span<const std::int64_t> dims,
                                                                 std::span<const element> elements);

/// All numbers of `content`, which is int32 or int64 of any shape; nothing for another type.
[[nodiscard]] std::optional<std::vector<std::int64_t>> integers_of(const tensor& content);

} // namespace troupe::graph
