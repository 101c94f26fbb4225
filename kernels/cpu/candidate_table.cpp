// The one place that says which kernels exist, in the order they are tried. An operator's fast
// candidates come first and its reference kernel last.

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/conv/kernels.hpp"
#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array identity{candidate{"reference", make_reference_identity}};

constexpr auto fused = post_ops_by::kernel;

constexpr std::array conv{
    candidate{"depthwise", make_depthwise_conv, fused},
    candidate{"winograd", make_winograd_conv, fused},
    candidate{"onednn:pointwise", make_onednn_pointwise_conv, fused},
    candidate{"onednn", make_onednn_conv, fused},
    candidate{"depthwise", make_depthwise_conv},
    candidate{"winograd", make_winograd_conv},
    candidate{"onednn:pointwise", make_onednn_pointwise_conv},
    candidate{"onednn", make_onednn_conv},
    candidate{"onednn:gemm", make_onednn_conv_by_gemm, fused},
    candidate{"onednn:gemm", make_onednn_conv_by_gemm},
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
    candidate{"onednn", make_onednn_matmul, fused},
    candidate{"onednn", make_onednn_matmul},
    candidate{"reference", make_reference_matmul},
};

constexpr std::array gemm{
    candidate{"onednn", make_onednn_gemm, fused},
    candidate{"onednn", make_onednn_gemm},
    candidate{"reference", make_reference_gemm},
};

constexpr std::array pool{
    candidate{"onednn", make_onednn_pool, fused},
    candidate{"onednn", make_onednn_pool},
    candidate{"reference", make_reference_pool},
};

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
constexpr std::array binary{
    candidate{"highway", make_highway_binary, fused},
    candidate{"highway", make_highway_binary},
    candidate{"reference", make_reference_binary},
};
constexpr std::array cast{candidate{"reference", make_reference_cast}};
constexpr std::array clip{
    candidate{"highway", make_highway_clip, fused},
    candidate{"highway", make_highway_clip},
    candidate{"reference", make_reference_clip},
};
constexpr std::array comparison{candidate{"reference", make_reference_comparison}};
constexpr std::array concat{
    candidate{"tiled", make_tiled_concat},
    candidate{"reference", make_reference_concat},
};
constexpr std::array constant{candidate{"reference", make_reference_constant}};
constexpr std::array constant_of_shape{candidate{"reference", make_reference_constant_of_shape}};
constexpr std::array expand{candidate{"reference", make_reference_expand}};
constexpr std::array gather{candidate{"reference", make_reference_gather}};
constexpr std::array layer_normalization{
    candidate{"highway", make_highway_layer_normalization},
    candidate{"reference", make_reference_layer_normalization},
};
constexpr std::array logical{candidate{"reference", make_reference_logical}};
constexpr std::array logical_not{candidate{"reference", make_reference_not}};
constexpr std::array pad{candidate{"reference", make_reference_pad}};
constexpr std::array range{candidate{"reference", make_reference_range}};
constexpr std::array reduce{
    candidate{"highway", make_highway_reduce},
    candidate{"reference", make_reference_reduce},
};
constexpr std::array reorder{
    candidate{"onednn", make_onednn_reorder},
    candidate{"tiled", make_tiled_reorder},
    candidate{"reference", make_reference_reorder},
};
constexpr std::array resize{
    candidate{"nearest", make_nearest_resize},
    candidate{"reference", make_reference_resize},
};
constexpr std::array shape{candidate{"reference", make_reference_shape}};
constexpr std::array slice{candidate{"reference", make_reference_slice}};
constexpr std::array softmax{
    candidate{"highway", make_highway_softmax},
    candidate{"reference", make_reference_softmax},
};
constexpr std::array split{
    candidate{"tiled", make_tiled_split},
    candidate{"reference", make_reference_split},
};
constexpr std::array tile{candidate{"reference", make_reference_tile}};
constexpr std::array transpose{
    candidate{"tiled", make_tiled_transpose},
    candidate{"reference", make_reference_transpose},
};
constexpr std::array unary{
    candidate{"highway", make_highway_unary, fused},
    candidate{"highway", make_highway_unary},
    candidate{"reference", make_reference_unary},
};
constexpr std::array where{candidate{"reference", make_reference_where}};

constexpr std::array power{
    candidate{"highway", make_highway_pow, fused},
    candidate{"highway", make_highway_pow},
    candidate{"reference", make_reference_pow},
};

struct operator_entry {
  std::string_view domain;
  std::string_view op_type;
  std::span<const candidate> candidates;
  std::size_t least_inputs = 1; ///< of the operator's own that must be present
};

constexpr std::array operators{
    operator_entry{"", "Conv", conv, 2},
    operator_entry{"", "ConvTranspose", conv_transpose, 2},
    operator_entry{"", "MatMul", matmul, 2},
    operator_entry{"", "Gemm", gemm, 2},
    operator_entry{"", "MaxPool", pool},
    operator_entry{"", "AveragePool", pool},
    operator_entry{"", "GlobalMaxPool", global_pool},
    operator_entry{"", "GlobalAveragePool", global_pool},
    operator_entry{"", "BatchNormalization", batch_normalization, 5},
    operator_entry{"", "LayerNormalization", layer_normalization, 2},
    operator_entry{"", "Softmax", softmax},
    operator_entry{"", "LogSoftmax", softmax},
    operator_entry{"", "Add", binary, 2},
    operator_entry{"", "Sub", binary, 2},
    operator_entry{"", "Mul", binary, 2},
    operator_entry{"", "Div", binary, 2},
    operator_entry{"", "Pow", power, 2},
    operator_entry{"", "Mod", binary, 2},
    operator_entry{"", "Min", binary},
    operator_entry{"", "Max", binary},
    operator_entry{"", "Sum", binary},
    operator_entry{"", "Equal", comparison, 2},
    operator_entry{"", "Less", comparison, 2},
    operator_entry{"", "LessOrEqual", comparison, 2},
    operator_entry{"", "Greater", comparison, 2},
    operator_entry{"", "GreaterOrEqual", comparison, 2},
    operator_entry{"", "And", logical, 2},
    operator_entry{"", "Or", logical, 2},
    operator_entry{"", "Xor", logical, 2},
    operator_entry{"", "Not", logical_not},
    operator_entry{"", "Relu", unary},
    operator_entry{"", "LeakyRelu", unary},
    operator_entry{"", "Elu", unary},
    operator_entry{"", "Sigmoid", unary},
    operator_entry{"", "Softplus", unary},
    operator_entry{"", "HardSigmoid", unary},
    operator_entry{"", "HardSwish", unary},
    operator_entry{"", "Gelu", unary},
    operator_entry{"", "Erf", unary},
    operator_entry{"", "Exp", unary},
    operator_entry{"", "Log", unary},
    operator_entry{"", "Tanh", unary},
    operator_entry{"", "Sqrt", unary},
    operator_entry{"", "Neg", unary},
    operator_entry{"", "Abs", unary},
    operator_entry{"", "Floor", unary},
    operator_entry{"", "Ceil", unary},
    operator_entry{"", "Round", unary},
    operator_entry{"", "Reciprocal", unary},
    operator_entry{"", "Sin", unary},
    operator_entry{"", "Cos", unary},
    operator_entry{"", "Clip", clip},
    operator_entry{"", "ReduceMean", reduce},
    operator_entry{"", "ReduceSum", reduce},
    operator_entry{"", "ReduceMax", reduce},
    operator_entry{"", "ReduceMin", reduce},
    operator_entry{"", "ReduceProd", reduce},
    operator_entry{"", "ReduceSumSquare", reduce},
    operator_entry{"", "ReduceL2", reduce},
    operator_entry{"", "ArgMax", argmax},
    operator_entry{"", "ArgMin", argmax},
    operator_entry{"", "Identity", identity},
    operator_entry{"", "Reshape", identity},
    operator_entry{"", "Squeeze", identity},
    operator_entry{"", "Unsqueeze", identity},
    operator_entry{"", "Flatten", identity},
    operator_entry{"", "Dropout", identity},
    operator_entry{"", "Transpose", transpose},
    operator_entry{"", "Concat", concat},
    operator_entry{"", "Split", split},
    operator_entry{"", "Slice", slice},
    operator_entry{"", "Gather", gather, 2},
    operator_entry{"", "Expand", expand, 2},
    operator_entry{"", "Tile", tile, 2},
    operator_entry{"", "Pad", pad},
    operator_entry{"", "Resize", resize},
    operator_entry{"", "Upsample", resize},
    operator_entry{"", "Where", where, 3},
    operator_entry{"", "Cast", cast},
    operator_entry{"", "Shape", shape},
    operator_entry{"", "Size", shape},
    operator_entry{"", "Constant", constant, 0},
    operator_entry{"", "ConstantOfShape", constant_of_shape},
    operator_entry{"", "Range", range, 3},
    operator_entry{"troupe", "Reorder", reorder},
};

const operator_entry* entry_of(std::string_view domain, std::string_view op_type) {
  const auto* known = std::ranges::find_if(operators, [&](const operator_entry& entry) {
    return entry.domain == domain && entry.op_type == op_type;
  });
  return known == operators.end() ? nullptr : known;
}

} // namespace

std::span<const candidate> candidates_for(std::string_view domain, std::string_view op_type) {
  const auto* known = entry_of(domain, op_type);
  return known == nullptr ? std::span<const candidate>{} : known->candidates;
}

std::size_t least_inputs_of(std::string_view domain, std::string_view op_type) {
  const auto* known = entry_of(domain, op_type);
  return known == nullptr ? 0 : known->least_inputs;
}

} // namespace troupe::cpu
