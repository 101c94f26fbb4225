#pragma once

#include "kernels/base/result.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace troupe {

/// An Einstein summation (ONNX Einsum-28) over operands of known ranks. A label names an index: a
/// letter its own character, the axes of an ellipsis labels of their own, the same in every operand
/// counted from the last.
struct einsum {
  using labels = std::vector<int>;
  std::vector<labels> inputs; ///< of each operand, one label per axis
  labels output;              ///< each label once
};

/// Whether axes under the label come from an ellipsis, where an axis of size 1 is repeated.
[[nodiscard]] constexpr bool from_ellipsis(int label) noexcept {
  return label >= 256;
}

/// invalid_argument when the equation is none, or has not as many operands or axes as there are.
[[nodiscard]] result<einsum> parse_einsum(std::string_view equation,
                                          std::span<const std::size_t> ranks);

} // namespace troupe
