#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// The vectorised candidates, dispatched to the machine's instruction set at run time. Float32,
// strided layouts. Those of element-wise operators honour post-ops in the same pass.

made_kernel make_highway_unary(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_clip(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_binary(const kernel_spec& spec, weight_cache& weights);
/// Pow whose exponent is the constant 2, 0.5 or -1.
made_kernel make_highway_pow(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
