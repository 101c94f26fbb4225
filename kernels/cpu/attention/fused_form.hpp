#pragma once

#include "kernels/cpu/attention/blocks.hpp"
#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

/// What a node of the operator "Attention" of the domain "troupe" says, which the pass
/// fuse_attention puts in: out = softmax(steps(scale q k')) v.
///
/// Inputs: queries, keys, values, then an operand for each step. With rank 4 a permutation says
/// which axis of a tensor is the batch, the heads, the positions and the elements, with rank 3
/// which are the heads, the positions and the elements. Heads of keys and values divide those of
/// queries. | attribute | what it says |
/// |---|---|
/// | `q_perm`, `k_perm`, `v_perm` | the tensor's axes in the order above |
/// | `out_perm` | where the axes in that order are in the output, as Transpose says it |
/// | `heads`, `kv_heads` | how many heads there are; left out: all of the tensor's |
/// | `q_head`, `k_head`, `v_head` | the first of them, 0 if left out: several may share a tensor |
/// | `scale` | a number |
/// | `steps` | for each step 0: its operand is added; 1: scores stay where it is true; 2: where it
/// is false | | `otherwise` | for each step what a score becomes that does not stay | |
/// `zero_if_blind` | 1: a query whose scores are all -inf gives zeros instead of NaN |
///
/// The operand of a step broadcasts to [batch, heads, queries, keys]; a single query is broadcast
/// to as many as an operand has.
[[nodiscard]] tl::expected<attention_blocks::problem, std::string>
fused_attention_form(const kernel_spec& spec);

/// The candidates: a kernel of vector code, and a plain definition in double.
made_kernel make_blocked_fused_attention(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_fused_attention(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
