// Convolutions, products, pooling, normalisation, reductions.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/conv/kernels.hpp"
#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/matmul/packed_kernel.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr auto fused = post_ops_by::kernel;

constexpr std::array conv{
    candidate{"winograd", make_winograd_conv, fused},
    candidate{"strassen", make_strassen_pointwise_conv, fused},
    candidate{"strassen:strided", make_strided_pointwise_conv, fused},
    candidate{"onednn:pointwise", make_onednn_pointwise_conv, fused},
    candidate{"onednn", make_onednn_conv, fused},
    candidate{"packed", make_packed_pointwise_conv, fused},
    candidate{"depthwise", make_depthwise_conv, fused},
    candidate{"winograd", make_winograd_conv},
    candidate{"onednn:pointwise", make_onednn_pointwise_conv},
    candidate{"onednn", make_onednn_conv},
    candidate{"onednn:gemm", make_onednn_conv_by_gemm, fused},
    candidate{"onednn:gemm", make_onednn_conv_by_gemm},
    candidate{"packed:windows", make_windowed_conv, fused},
    candidate{"packed:windows", make_windowed_conv},
    candidate{"reference", make_reference_conv},
};

constexpr std::array conv_transpose{
    candidate{"onednn:tiles", make_onednn_tiled_conv_transpose, fused},
    candidate{"onednn:tiles", make_onednn_tiled_conv_transpose},
    candidate{"onednn", make_onednn_conv_transpose, fused},
    candidate{"onednn", make_onednn_conv_transpose},
    candidate{"reference", make_reference_conv_transpose},
};

constexpr std::array matmul{
    candidate{"strassen", make_strassen_matmul, fused},
    candidate{"packed", make_packed_matmul, fused},
    candidate{"onednn", make_onednn_matmul, fused},
    candidate{"onednn", make_onednn_matmul},
    candidate{"reference", make_reference_matmul},
};

constexpr std::array gemm{
    candidate{"packed", make_packed_gemm, fused},
    candidate{"onednn", make_onednn_gemm, fused},
    candidate{"onednn", make_onednn_gemm},
    candidate{"reference", make_reference_gemm},
};

constexpr std::array max_pool{
    candidate{"onednn", make_onednn_pool, fused},
    candidate{"onednn", make_onednn_pool},
    candidate{"reference", make_reference_max_pool},
};

constexpr std::array average_pool{
    candidate{"onednn", make_onednn_pool, fused},
    candidate{"onednn", make_onednn_pool},
    candidate{"reference", make_reference_average_pool},
};

constexpr std::array lp_pool{candidate{"reference", make_reference_lp_pool}};
constexpr std::array global_lp_pool{candidate{"reference", make_reference_global_pool}};

constexpr std::array global_pool{
    candidate{"highway", make_highway_global_average},
    candidate{"onednn", make_onednn_pool, fused},
    candidate{"onednn", make_onednn_pool},
    candidate{"reference", make_reference_global_pool},
};
constexpr std::array argmax{candidate{"reference", make_reference_argmax}};

constexpr std::array batch_normalization{
    candidate{"highway", make_highway_batch_normalization, fused},
    candidate{"highway", make_highway_batch_normalization},
    candidate{"reference", make_reference_batch_normalization},
};

constexpr std::array layer_normalization{
    candidate{"highway", make_highway_layer_normalization},
    candidate{"reference", make_reference_layer_normalization},
};

constexpr std::array reduce{
    candidate{"highway", make_highway_reduce},
    candidate{"reference", make_reference_reduce},
};

constexpr std::array softmax{
    candidate{"highway", make_highway_softmax},
    candidate{"reference", make_reference_softmax},
};

constexpr std::array operators{
    operator_entry{"", "Conv", conv, 2},
    operator_entry{"", "ConvTranspose", conv_transpose, 2},
    operator_entry{"", "MatMul", matmul, 2},
    operator_entry{"", "Gemm", gemm, 2},
    operator_entry{"", "MaxPool", max_pool},
    operator_entry{"", "AveragePool", average_pool},
    operator_entry{"", "LpPool", lp_pool},
    operator_entry{"", "GlobalLpPool", global_lp_pool},
    operator_entry{"", "GlobalMaxPool", global_pool},
    operator_entry{"", "GlobalAveragePool", global_pool},
    operator_entry{"", "BatchNormalization", batch_normalization, 5},
    operator_entry{"", "LayerNormalization", layer_normalization, 2},
    operator_entry{"", "Softmax", softmax},
    operator_entry{"", "LogSoftmax", softmax},
    operator_entry{"", "Hardmax", softmax},
    operator_entry{"", "ReduceMean", reduce},
    operator_entry{"", "ReduceSum", reduce},
    operator_entry{"", "ReduceMax", reduce},
    operator_entry{"", "ReduceMin", reduce},
    operator_entry{"", "ReduceProd", reduce},
    operator_entry{"", "ReduceSumSquare", reduce},
    operator_entry{"", "ReduceL1", reduce},
    operator_entry{"", "ReduceL2", reduce},
    operator_entry{"", "ReduceLogSum", reduce},
    operator_entry{"", "ReduceLogSumExp", reduce},
    operator_entry{"", "ArgMax", argmax},
    operator_entry{"", "ArgMin", argmax},
};

} // namespace

std::span<const operator_entry> compute_operators() {
  return operators;
}

} // namespace troupe::cpu
