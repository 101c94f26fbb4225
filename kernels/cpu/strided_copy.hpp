#pragma once

#include "kernels/tensor/shape.hpp"

#include <cstddef>

namespace troupe::cpu {

/// Copies a box of elements between two tensors that lie differently in memory. Strides are in
/// elements and may be 0 or negative in the source. Used wherever an operator only moves data.
struct strided_box {
  shape dims;
  shape from_strides;
  shape to_strides;
  std::size_t element_bytes = 4; ///< 1, 2, 4 or 8

  /// `from` and `to` are the addresses of the box's first element; they do not overlap. Fastest on
  /// a `simplified` box.
  void copy(const std::byte* from, std::byte* to) const;
};

/// The same copy with its loops ordered by the target's memory and neighbouring axes merged.
[[nodiscard]] strided_box simplified(const strided_box& box);

} // namespace troupe::cpu
