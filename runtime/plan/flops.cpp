#include "runtime/plan/flops.hpp"

#include "kernels/cpu/attention/form.hpp"
#include "kernels/cpu/attention/fused_form.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace troupe::plan {
namespace {

double product(std::span<const std::int64_t> dims, std::size_t first = 0) {
  double all = 1;
  for (auto axis = first; axis < dims.size(); ++axis)
    all *= static_cast<double>(dims[axis]);
  return all;
}

/// The inputs that are multiplied: quantised operators have a scale and a zero point behind each.
struct factors {
  const tensor_desc& left;
  const tensor_desc& right;
};

std::optional<factors> factors_of(const kernel_spec& spec) {
  const std::size_t right = spec.op_type.starts_with("QLinear") ? 3 : 1;
  if (spec.inputs.size() <= right || spec.outputs.empty())
    return std::nullopt;
  return factors{spec.inputs[0].desc, spec.inputs[right].desc};
}

bool is_one_of(std::string_view op, std::span<const std::string_view> names) {
  return std::ranges::find(names, op) != names.end();
}

std::optional<double> attention(const kernel_spec& spec) {
  // Each query meets each key, then each value.
  if (spec.domain == "troupe") {
    const auto form = cpu::fused_attention_form(spec);
    if (!form)
      return std::nullopt;
    const std::array sizes{form->batch, form->heads, form->queries, form->keys,
                           form->size + form->value_size};
    return 2.0 * product(sizes);
  }
  const auto form = cpu::attention_form_of(spec);
  if (!form)
    return std::nullopt;
  const std::array sizes{form->batch, form->q_heads, form->q_length, form->total_length(),
                         form->head_size + form->v_head_size};
  return 2.0 * product(sizes);
}

// Every step of every sequence meets the weights W [directions, gates, input] and R.
std::optional<double> recurrent(const kernel_spec& spec) {
  if (spec.inputs.size() < 3 || spec.inputs[0].desc.dims.size() != 3)
    return std::nullopt;
  const auto& x = spec.inputs[0].desc.dims;
  const auto weights = product(spec.inputs[1].desc.dims) + product(spec.inputs[2].desc.dims);
  return 2.0 * static_cast<double>(x[0]) * static_cast<double>(x[1]) * weights;
}

} // namespace

std::optional<double> flops_of(const kernel_spec& spec) {
  constexpr std::array<std::string_view, 3> convolutions{"Conv", "ConvInteger", "QLinearConv"};
  constexpr std::array<std::string_view, 3> products{"MatMul", "MatMulInteger", "QLinearMatMul"};
  constexpr std::array<std::string_view, 2> general{"Gemm", "QLinearGemm"};
  constexpr std::array<std::string_view, 3> networks{"LSTM", "GRU", "RNN"};
  if (spec.op_type == "Attention")
    return attention(spec);
  if (is_one_of(spec.op_type, networks))
    return recurrent(spec);
  const auto of = factors_of(spec);
  if (!of)
    return std::nullopt;
  const auto& out = spec.outputs[0].dims;
  if (is_one_of(spec.op_type, convolutions))
    return 2.0 * product(out) * product(of->right.dims, 1);
  if (spec.op_type == "ConvTranspose")
    return 2.0 * product(of->left.dims) * product(of->right.dims, 1);
  if (is_one_of(spec.op_type, products) && !of->left.dims.empty())
    return 2.0 * product(out) * static_cast<double>(of->left.dims.back());
  if (is_one_of(spec.op_type, general) && out.size() == 2 && out[0] > 0)
    return 2.0 * product(out) * product(of->left.dims) / static_cast<double>(out[0]);
  return std::nullopt;
}

} // namespace troupe::plan
