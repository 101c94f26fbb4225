// The operators of quantised models.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/quantized_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array quantize_linear{candidate{"highway", make_highway_quantize_linear},
                                     candidate{"reference", make_reference_quantize_linear}};
constexpr std::array dequantize_linear{candidate{"highway", make_highway_dequantize_linear},
                                       candidate{"reference", make_reference_dequantize_linear}};
constexpr std::array dynamic_quantize_linear{
    candidate{"reference", make_reference_dynamic_quantize_linear}};
constexpr std::array matmul_integer{candidate{"onednn", make_onednn_matmul_integer},
                                    candidate{"reference", make_reference_matmul_integer}};
constexpr std::array qlinear_matmul{candidate{"onednn", make_onednn_qlinear_matmul},
                                    candidate{"reference", make_reference_qlinear_matmul}};
constexpr std::array conv_integer{candidate{"reference", make_reference_conv_integer}};
constexpr std::array qlinear_conv{
    candidate{"onednn", make_onednn_qlinear_conv},
    candidate{"onednn:gemm", make_onednn_qlinear_conv_by_gemm},
    candidate{"reference", make_reference_qlinear_conv},
};
constexpr std::array qlinear_gemm{candidate{"onednn", make_onednn_qlinear_gemm},
                                  candidate{"reference", make_reference_qlinear_gemm}};
constexpr std::array qlinear_add{candidate{"highway", make_highway_qlinear_add},
                                 candidate{"reference", make_reference_qlinear_add}};

constexpr std::array operators{
    operator_entry{"", "QuantizeLinear", quantize_linear, 2},
    operator_entry{"", "DequantizeLinear", dequantize_linear, 2},
    operator_entry{"", "DynamicQuantizeLinear", dynamic_quantize_linear},
    operator_entry{"", "MatMulInteger", matmul_integer, 2},
    operator_entry{"", "QLinearMatMul", qlinear_matmul, 8},
    operator_entry{"", "ConvInteger", conv_integer, 2},
    operator_entry{"", "QLinearConv", qlinear_conv, 8},
    operator_entry{"troupe", "QLinearAdd", qlinear_add, 8},
    operator_entry{"troupe", "QLinearGemm", qlinear_gemm, 8},
};

} // namespace

std::span<const operator_entry> quantization_operators() {
  return operators;
}

} // namespace troupe::cpu
