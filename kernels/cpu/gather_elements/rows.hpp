#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/iteration.hpp"

namespace troupe::cpu {

/// How GatherElements and ScatterElements walk their indices: position p of the indices belongs to
/// the element of the data that has p's coordinates, but for `axis`, where it has the index.
struct element_rows {
  iteration over;                ///< the indices; operand 0 is the data, with no stride along axis
  std::int64_t size = 0;         ///< of the data along the axis
  std::int64_t stride = 0;       ///< of the data along the axis, in elements
  std::int64_t step = 0;         ///< of the data along the innermost loop; 0 if that is the axis
  std::int64_t rows_a_slice = 1; ///< rows that may meet in one element of the data lie together

  [[nodiscard]] std::int64_t count() const noexcept { return over.outer() * over.inner(); }
};

/// From the node's data and indices; the reason when attribute or shapes do not fit.
[[nodiscard]] tl::expected<element_rows, std::string> element_rows_of(const kernel_spec& spec);

} // namespace troupe::cpu
