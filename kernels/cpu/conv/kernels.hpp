#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// Convolutions in vector code of our own, where it beats oneDNN's. float32, channels-last, constant
// weights; post-ops as fused_steps.hpp takes them.

/// 3x3 windows of stride 1 with at least 16 channels on both sides.
made_kernel make_winograd_conv(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
