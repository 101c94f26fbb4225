#include "kernels/cpu/onednn.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu::onednn {
namespace {

using algorithm = dnnl::algorithm;

void append(dnnl::post_ops& steps, algorithm kind, float alpha = 0.0F, float beta = 0.0F) {
  steps.append_eltwise(1.0F, kind, alpha, beta);
}

// oneDNN's hard-swish ignores its parameters.
bool is_standard_gate(const post_op& step) {
  return std::abs(step.alpha - 1.0F / 6.0F) < 1e-6F && step.beta == 0.5F;
}

// False when oneDNN has no such activation.
bool append_activation(dnnl::post_ops& steps, const post_op& step) {
  switch (step.kind) {
    case post_op_kind::relu: append(steps, algorithm::eltwise_relu); return true;
    case post_op_kind::leaky_relu: append(steps, algorithm::eltwise_relu, step.alpha); return true;
    case post_op_kind::clip:
      append(steps, algorithm::eltwise_clip, step.alpha, step.beta);
      return true;
    case post_op_kind::linear: append_linear(steps, step.alpha, step.beta); return true;
    case post_op_kind::sigmoid: append(steps, algorithm::eltwise_logistic); return true;
    case post_op_kind::tanh: append(steps, algorithm::eltwise_tanh); return true;
    case post_op_kind::hard_sigmoid:
      append_linear(steps, step.alpha, step.beta);
      append(steps, algorithm::eltwise_clip, 0.0F, 1.0F);
      return true;
    case post_op_kind::hard_swish:
      if (!is_standard_gate(step))
        return false;
      append(steps, algorithm::eltwise_hardswish);
      return true;
    case post_op_kind::silu: append(steps, algorithm::eltwise_swish, 1.0F); return true;
    case post_op_kind::gelu_erf: append(steps, algorithm::eltwise_gelu_erf); return true;
    case post_op_kind::gelu_tanh: append(steps, algorithm::eltwise_gelu_tanh); return true;
    case post_op_kind::add:
    case post_op_kind::multiply: return false;
  }
  return false;
}

// oneDNN 2.6 keeps one code generator per activation in a chain and silently uses the parameters of
// the first for all of them.
bool repeats_an_activation(const dnnl::post_ops& steps) {
  std::vector<algorithm> seen;
  for (int i = 0; i < steps.len(); ++i) {
    if (steps.kind(i) != dnnl::primitive::kind::eltwise)
      continue;
    float scale = 0.0F;
    float alpha = 0.0F;
    float beta = 0.0F;
    algorithm kind{};
    steps.get_params_eltwise(i, scale, kind, alpha, beta);
    if (std::ranges::find(seen, kind) != seen.end())
      return true;
    seen.push_back(kind);
  }
  return false;
}

attempted<memory_desc> place_beside(const tensor_desc& operand, const tensor_desc& output,
                                    const memory_desc& destination, std::size_t output_axis,
                                    std::size_t destination_axis) {
  if (operand.dims == output.dims) {
    const bool same = operand.format == output.format
                      || (lies_channels_last(operand) && lies_channels_last(output));
    if (!same)
      return decline("a post-op's operand lies in another layout than the output");
    return destination;
  }
  const auto count = operand.elements();
  const auto missing = output.dims.size() - std::min(output.dims.size(), operand.dims.size());
  const bool along_axis = output_axis >= missing && count == output.dims[output_axis]
                          && operand.dims[output_axis - missing] == count;
  if (count != 1 && !along_axis)
    return decline("a post-op's operand of {} is neither a residual nor one value per channel",
                   to_string(operand.dims));
  dnnl::memory::dims dims(destination.dims().size(), 1);
  dims[destination_axis] = count;
  return strided(dims, dnnl::memory::dims(dims.size(), 1));
}

} // namespace

attempted<memory_desc> beside_channels(const tensor_desc& operand, const tensor_desc& output,
                                       const memory_desc& destination) {
  return place_beside(operand, output, destination, 1, 1);
}

attempted<memory_desc> beside_columns(const tensor_desc& operand, const tensor_desc& output,
                                      const memory_desc& destination) {
  if (output.dims.empty())
    return decline("a scalar output");
  return place_beside(operand, output, destination, output.dims.size() - 1,
                      destination.dims().size() - 1);
}

void append_linear(dnnl::post_ops& steps, float scale, float shift) {
  append(steps, algorithm::eltwise_linear, scale, shift);
}

attempted<fused_post_ops> fuse(const kernel_spec& spec, dnnl::post_ops steps,
                               const memory_desc& destination, place_operand place) {
  fused_post_ops fused;
  for (const auto& step : spec.post_ops) {
    if (step.kind != post_op_kind::add && step.kind != post_op_kind::multiply) {
      if (!append_activation(steps, step))
        return decline("oneDNN has no post-op for a {} gate of slope {} and offset {}",
                       "hard-swish", step.alpha, step.beta);
      continue;
    }
    const auto& operand = spec.inputs[step.operand].desc;
    if (operand.type != dtype::float32)
      return decline("a post-op's operand is {}", to_string(operand.type));
    auto desc = place(operand, spec.outputs[0], destination);
    if (!desc)
      return tl::unexpected{std::move(desc).error()};
    const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(steps.len()) | DNNL_ARG_SRC_1;
    steps.append_binary(
        step.kind == post_op_kind::add ? algorithm::binary_add : algorithm::binary_mul, *desc);
    fused.operands.push_back({argument, *desc, binding::source::input, step.operand});
  }
  if (repeats_an_activation(steps))
    return decline("oneDNN confuses two activations of one kind in a chain");
  fused.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  fused.attributes.set_post_ops(steps);
  return fused;
}

} // namespace troupe::cpu::onednn
