#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// Operators that pick, place or rearrange elements, each by its definition; those that exported
// networks spend time in share their work among the thread team. All want row-major tensors.

made_kernel make_center_crop_pad(const kernel_spec& spec, weight_cache& weights);
made_kernel make_cumulation(const kernel_spec& spec, weight_cache& weights); // CumSum, CumProd
made_kernel make_depth_to_space(const kernel_spec& spec, weight_cache& weights);
made_kernel make_eye_like(const kernel_spec& spec, weight_cache& weights);
made_kernel make_gather_elements(const kernel_spec& spec, weight_cache& weights);
made_kernel make_gather_nd(const kernel_spec& spec, weight_cache& weights);
made_kernel make_one_hot(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reverse_sequence(const kernel_spec& spec, weight_cache& weights);
made_kernel make_scatter_elements(const kernel_spec& spec, weight_cache& weights);
made_kernel make_scatter_nd(const kernel_spec& spec, weight_cache& weights);
made_kernel make_space_to_depth(const kernel_spec& spec, weight_cache& weights);
made_kernel make_tensor_scatter(const kernel_spec& spec, weight_cache& weights);
made_kernel make_top_k(const kernel_spec& spec, weight_cache& weights);
made_kernel make_trilu(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
