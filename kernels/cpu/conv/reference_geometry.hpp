#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/spatial.hpp"

namespace troupe::cpu {

/// A convolution or transposed convolution for kernels that follow the definition: one to three
/// spatial axes, any strided layout, any type.
struct reference_convolution {
  spatial input;
  spatial weights;
  spatial output;
  spatial_window moves;
  std::int64_t groups = 1;
};

/// From the node's input, weights and attributes; the reason when types differ, a layout is blocked
/// or sizes disagree.
[[nodiscard]] tl::expected<reference_convolution, std::string>
reference_convolution_of(const kernel_spec& spec, bool transposed);

} // namespace troupe::cpu
