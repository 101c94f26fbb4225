#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// The reference kernels: one plain, single-threaded definition of every operator, at the end of its
// row in the candidate table. They read and write row-major and channels-last tensors wherever
// layout_rules.cpp lets an operator meet both.

made_kernel make_reference_argmax(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_attention(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_average_pool(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_batch_normalization(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_binary(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_bit_cast(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_bitwise(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_cast(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_causal_conv(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_clip(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_comparison(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_concat(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_constant(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_constant_of_shape(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_conv(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_conv_transpose(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_det(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_dft(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_einsum(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_expand(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_gather(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_gemm(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_global_pool(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_group_normalization(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_identity(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_is_inf(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_is_nan(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_layer_normalization(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_linear_attention(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_logical(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_loss(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_lp_normalization(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_squeeze_excite(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_lp_pool(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_lrn(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_matmul(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_max_pool(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_mean_variance_normalization(const kernel_spec& spec,
                                                       weight_cache& weights);
made_kernel make_reference_mel_weights(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_not(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_pad(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_pow(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_range(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_recurrent(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_reduce(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_reorder(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_resize(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_rotary_embedding(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_shape(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_signal_window(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_slice(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_softmax(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_split(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_stft(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_swiglu(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_tile(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_transpose(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_unary(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_where(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
