#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// The candidates on oneDNN. All are float32; each honours post-ops itself or declines, so the table
// lists it with `post_ops_by::kernel` first and may list it again with `helper`.

/// Conv with constant weights, 1-D or 2-D, channels-last. Declines where oneDNN has only its
/// generic code.
made_kernel make_onednn_conv(const kernel_spec& spec, weight_cache& weights);

/// Conv whose window is a single element of stride 1: a matrix product over positions.
made_kernel make_onednn_pointwise_conv(const kernel_spec& spec, weight_cache& weights);

/// As `make_onednn_conv` on row-major tensors or by way of im2col and a matrix product: slower, and
/// still far from the reference kernel.
made_kernel make_onednn_conv_by_gemm(const kernel_spec& spec, weight_cache& weights);

/// ConvTranspose whose windows do not overlap: a matrix product whose rows are then laid out.
made_kernel make_onednn_tiled_conv_transpose(const kernel_spec& spec, weight_cache& weights);

/// ConvTranspose in general, channels-last, constant weights.
made_kernel make_onednn_conv_transpose(const kernel_spec& spec, weight_cache& weights);

/// MatMul by numpy's rules; a constant right-hand matrix is packed once.
made_kernel make_onednn_matmul(const kernel_spec& spec, weight_cache& weights);
made_kernel make_onednn_gemm(const kernel_spec& spec, weight_cache& weights);

/// MaxPool, AveragePool and their global forms, without the indices.
made_kernel make_onednn_pool(const kernel_spec& spec, weight_cache& weights);

/// RNN, GRU and LSTM whose weights are initializers.
made_kernel make_onednn_recurrent(const kernel_spec& spec, weight_cache& weights);

/// The planner's own Reorder of an activation of 3 or 4 axes.
made_kernel make_onednn_reorder(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
