#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// Operators that sample, unfold or pool images at places that data names, each by its definition.
// Row-major; the work is shared among the thread team.

made_kernel make_affine_grid(const kernel_spec& spec, weight_cache& weights);
made_kernel make_col2im(const kernel_spec& spec, weight_cache& weights);
made_kernel make_deform_conv(const kernel_spec& spec, weight_cache& weights);
made_kernel make_grid_sample(const kernel_spec& spec, weight_cache& weights);
made_kernel make_max_roi_pool(const kernel_spec& spec, weight_cache& weights);
made_kernel make_max_unpool(const kernel_spec& spec, weight_cache& weights);
made_kernel make_roi_align(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
