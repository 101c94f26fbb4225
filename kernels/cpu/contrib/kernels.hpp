#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// Operators of com.microsoft that are no composition of others.

made_kernel make_multi_head_attention(const kernel_spec& spec, weight_cache& weights);
made_kernel make_group_query_attention(const kernel_spec& spec, weight_cache& weights);
made_kernel make_rotary_embedding(const kernel_spec& spec, weight_cache& weights);
made_kernel make_matmul_nbits(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
