// The one place that says which kernels exist, in the order they are tried. An operator's fast
// candidates come first and its reference kernel last.

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array identity{candidate{"reference", make_reference_identity}};

constexpr auto fused = post_ops_by::kernel;

constexpr std::array conv{
    candidate{"onednn:pointwise", make_onednn_pointwise_conv, fused},
    candidate{"onednn", make_onednn_conv, fused},
    candidate{"onednn:pointwise", make_onednn_pointwise_conv},
    candidate{"onednn", make_onednn_conv},
    candidate{"onednn:gemm", make_onednn_conv_by_gemm, fused},
    candidate{"onednn:gemm", make_onednn_conv_by_gemm},
};

constexpr std::array conv_transpose{
    candidate{"onednn:tiles", make_onednn_tiled_conv_transpose, fused},
    candidate{"onednn:tiles", make_onednn_tiled_conv_transpose},
    candidate{"onednn", make_onednn_conv_transpose, fused},
    candidate{"onednn", make_onednn_conv_transpose},
};

constexpr std::array matmul{
    candidate{"onednn", make_onednn_matmul, fused},
    candidate{"onednn", make_onednn_matmul},
};

constexpr std::array gemm{
    candidate{"onednn", make_onednn_gemm, fused},
    candidate{"onednn", make_onednn_gemm},
};

constexpr std::array pool{
    candidate{"onednn", make_onednn_pool, fused},
    candidate{"onednn", make_onednn_pool},
};

struct operator_entry {
  std::string_view domain;
  std::string_view op_type;
  std::span<const candidate> candidates;
};

constexpr std::array operators{
    operator_entry{"", "Conv", conv},          operator_entry{"", "ConvTranspose", conv_transpose},
    operator_entry{"", "MatMul", matmul},      operator_entry{"", "Gemm", gemm},
    operator_entry{"", "MaxPool", pool},       operator_entry{"", "AveragePool", pool},
    operator_entry{"", "GlobalMaxPool", pool}, operator_entry{"", "GlobalAveragePool", pool},
    operator_entry{"", "Identity", identity},  operator_entry{"", "Reshape", identity},
    operator_entry{"", "Squeeze", identity},   operator_entry{"", "Unsqueeze", identity},
    operator_entry{"", "Flatten", identity},   operator_entry{"", "Dropout", identity},
};

} // namespace

std::span<const candidate> candidates_for(std::string_view domain, std::string_view op_type) {
  const auto* known = std::ranges::find_if(operators, [&](const operator_entry& entry) {
    return entry.domain == domain && entry.op_type == op_type;
  });
  return known == operators.end() ? std::span<const candidate>{} : known->candidates;
}

} // namespace troupe::cpu
