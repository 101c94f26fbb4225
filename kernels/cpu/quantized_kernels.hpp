#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// The operators of quantised models.

/// Whether this processor (below TROUPE_MAX_ISA) multiplies 8-bit matrices faster than FP32 ones.
[[nodiscard]] bool multiplies_bytes_fast();

// Vector code for one constant scale.
made_kernel make_highway_quantize_linear(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_dequantize_linear(const kernel_spec& spec, weight_cache& weights);
made_kernel make_highway_qlinear_add(const kernel_spec& spec, weight_cache& weights);

made_kernel make_onednn_qlinear_conv(const kernel_spec& spec, weight_cache& weights);
/// The same, where oneDNN only has a matrix product over rearranged inputs as well.
made_kernel make_onednn_qlinear_conv_by_gemm(const kernel_spec& spec, weight_cache& weights);
made_kernel make_onednn_qlinear_gemm(const kernel_spec& spec, weight_cache& weights);
made_kernel make_onednn_matmul_integer(const kernel_spec& spec, weight_cache& weights);
made_kernel make_onednn_qlinear_matmul(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_quantize_linear(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_dequantize_linear(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_dynamic_quantize_linear(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_matmul_integer(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_qlinear_matmul(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_conv_integer(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_qlinear_conv(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_qlinear_gemm(const kernel_spec& spec, weight_cache& weights);
made_kernel make_reference_qlinear_add(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
