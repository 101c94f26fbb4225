#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/op/window.hpp"

namespace troupe::cpu {

/// A convolution (or transposed convolution) with everything spelled out; a 1-D one has a
/// first spatial axis of size 1.
struct conv_geometry {
  std::int64_t batch = 0;
  std::int64_t channels = 0;     ///< of the input
  std::int64_t out_channels = 0; ///< of the output
  std::int64_t groups = 1;
  window_axis y;
  window_axis x;
  bool has_bias = false;
};

/// The reason when `spec` is not float32, not 1-D or 2-D, empty, has weights that are not constant,
/// or sizes that disagree.
[[nodiscard]] tl::expected<conv_geometry, std::string> conv_geometry_of(const kernel_spec& spec,
                                                                        bool transposed);

/// The same for any types and with the given weights; `has_bias` is left false.
[[nodiscard]] tl::expected<conv_geometry, std::string>
conv_geometry_of(const kernel_spec& spec, const operand& weights, bool transposed);

/// Whether each output reads exactly the input of its own position.
[[nodiscard]] bool is_pointwise(const conv_geometry& conv) noexcept;

/// Of a convolution that is a matrix product over positions: pointwise, input and output
/// channels-last; else the reason why it is not.
[[nodiscard]] tl::expected<conv_geometry, std::string>
pointwise_geometry_of(const kernel_spec& spec);

} // namespace troupe::cpu
