#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// Convolutions in vector code of our own, where it beats oneDNN's. float32, channels-last, constant
// weights; post-ops as fused_steps.hpp takes them.

/// 3x3 windows of stride 1 with at least 16 channels on both sides.
made_kernel make_winograd_conv(const kernel_spec& spec, weight_cache& weights);

/// One filter per channel, 3x3 or 5x5, a row's stride 1 or 2, at least a vector of channels.
made_kernel make_depthwise_conv(const kernel_spec& spec, weight_cache& weights);

/// A 1x1 window with a stride, by Strassen's scheme on the positions it reads.
made_kernel make_strided_pointwise_conv(const kernel_spec& spec, weight_cache& weights);

/// Any window, in groups of at least a vector of filters, as a product with the windows laid out.
made_kernel make_windowed_conv(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
