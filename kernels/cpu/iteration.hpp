#pragma once

#include "kernels/tensor/tensor.hpp"

#include <tl/expected.hpp>

#include <span>
#include <string>
#include <vector>

namespace troupe::cpu {

/// Elements between neighbours along each axis as the axes are written, whatever the layout: the
/// way a kernel reads row-major and channels-last tensors with one loop. Blocked layouts have no
/// such strides: callers decline them.
[[nodiscard]] shape strides_of(const tensor_desc& desc);

[[nodiscard]] constexpr bool has_strides(layout format) noexcept {
  return format == layout::row_major || format == layout::channels_last;
}

/// The axes of `desc` from outermost to innermost as they lie in memory.
[[nodiscard]] small_vector<std::size_t, 6> memory_order(const tensor_desc& desc);

/// The loops of an element-wise operation: over the output in memory order, so that its element i
/// is the i-th visited, with axes of size 1 dropped and neighbouring axes merged where every
/// operand allows it.
struct iteration {
  shape dims;                 ///< outermost first; at least one
  std::vector<shape> strides; ///< of each operand, in elements; 0 where it is repeated

  [[nodiscard]] std::int64_t inner() const noexcept { return dims.back(); }
  [[nodiscard]] std::int64_t outer() const noexcept; ///< iterations of all loops but the innermost
};

/// Loops over `output` with `operands` broadcast to it by ONNX's multidirectional rule (numpy's).
/// The reason when a shape does not fit or a layout is blocked and not that of the output.
[[nodiscard]] tl::expected<iteration, std::string> iterate(const tensor_desc& output,
                                                           std::span<const tensor_desc> operands);

/// Walks the outer loops from iteration `begin`, calling `row(index, offsets)` with the offset of
/// each operand's first element of the row.
template <class Row>
void for_each_row(const iteration& over, std::int64_t begin, std::int64_t end, const Row& row) {
  if (begin >= end)
    return;
  const std::size_t loops = over.dims.size() - 1;
  small_vector<std::int64_t, 8> at(loops, 0);
  small_vector<std::int64_t, 8> offsets(over.strides.size(), 0);
  std::int64_t rest = begin;
  for (std::size_t loop = loops; loop-- > 0;) {
    at[loop] = rest % over.dims[loop];
    rest /= over.dims[loop];
    for (std::size_t operand = 0; operand < offsets.size(); ++operand)
      offsets[operand] += at[loop] * over.strides[operand][loop];
  }
  for (std::int64_t index = begin; index < end; ++index) {
    row(index, std::span<const std::int64_t>{offsets.data(), offsets.size()});
    for (std::size_t loop = loops; loop-- > 0;) {
      for (std::size_t operand = 0; operand < offsets.size(); ++operand)
        offsets[operand] += over.strides[operand][loop];
      if (++at[loop] < over.dims[loop])
        break;
      for (std::size_t operand = 0; operand < offsets.size(); ++operand)
        offsets[operand] -= over.dims[loop] * over.strides[operand][loop];
      at[loop] = 0;
    }
  }
}

} // namespace troupe::cpu
