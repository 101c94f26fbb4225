#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// The vectorised candidates, dispatched to the machine's instruction set at run time. Float32,
// strided layouts. Those of element-wise operators honour post-ops in the same pass.

/// Attention whose scores nobody asks for.
made_kernel make_blocked_attention(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_batch_normalization(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_unary(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_clip(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_binary(const kernel_spec& spec, weight_cache& weights);
/// Pow whose exponent is the constant 2, 0.5 or -1.
made_kernel make_highway_pow(const kernel_spec& spec, weight_cache& weights);
/// Sums and means whose reduced axes are neighbours.
made_kernel make_highway_reduce(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_global_average(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_layer_normalization(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_squeeze_excite(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_softmax(const kernel_spec& spec, weight_cache& weights);

// Candidates that only move data: tiles that suit the cache, cut over the thread team.

made_kernel make_nearest_resize(const kernel_spec& spec, weight_cache& weights);
made_kernel make_separable_resize(const kernel_spec& spec, weight_cache& weights);
made_kernel make_tiled_concat(const kernel_spec& spec, weight_cache& weights);
made_kernel make_tiled_reorder(const kernel_spec& spec, weight_cache& weights);
made_kernel make_tiled_split(const kernel_spec& spec, weight_cache& weights);
made_kernel make_tiled_transpose(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
