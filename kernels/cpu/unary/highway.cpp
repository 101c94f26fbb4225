// Unary operators, Clip, and their post-ops as one vectorised pass.

#include "kernels/cpu/elementwise/program.hpp"
#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace troupe::cpu {

namespace {

struct unary_entry {
  std::string_view op_type;
  step what; ///< alpha and beta as the operator's defaults
};

constexpr std::array entries{
    unary_entry{"Relu", {step_kind::relu}},
    unary_entry{"LeakyRelu", {step_kind::leaky_relu, 0.01F}},
    unary_entry{"Elu", {step_kind::elu, 1.0F}},
    unary_entry{"Sigmoid", {step_kind::sigmoid}},
    unary_entry{"HardSigmoid", {step_kind::hard_sigmoid, 0.2F, 0.5F}},
    unary_entry{"HardSwish", {step_kind::hard_swish, 1.0F / 6.0F, 0.5F}},
    unary_entry{"Gelu", {step_kind::gelu_erf}},
    unary_entry{"Erf", {step_kind::erf}},
    unary_entry{"Exp", {step_kind::exp}},
    unary_entry{"Log", {step_kind::log}},
    unary_entry{"Tanh", {step_kind::tanh}},
    unary_entry{"Sqrt", {step_kind::sqrt}},
    unary_entry{"Neg", {step_kind::neg}},
    unary_entry{"Abs", {step_kind::abs}},
    unary_entry{"Floor", {step_kind::floor}},
    unary_entry{"Ceil", {step_kind::ceil}},
    unary_entry{"Round", {step_kind::round}},
    unary_entry{"Reciprocal", {step_kind::reciprocal}},
};

made_kernel one_step(const kernel_spec& spec, step what) {
  if (auto why = not_plain_float(spec, 1))
    return decline("{}", *why);
  std::vector<program_operand> operands{{0, spec.inputs[0].desc}};
  std::vector<program::part> parts{{what}};
  program::append_post_ops(spec, operands, parts);
  return program::make_kernel_of(
      program::make(spec.outputs[0], std::move(operands), std::move(parts), spec.threads),
      "highway", spec.outputs[0]);
}

tl::expected<float, std::string> constant_bound(const kernel_spec& spec, std::size_t index,
                                                float fallback) {
  if (index >= own_inputs(spec) || !has_input(spec, index))
    return fallback;
  const auto& constant = spec.inputs[index].constant;
  if (!constant || constant->type != dtype::float32 || constant->data.size() < sizeof(float))
    return decline("a bound is no FP32 initializer");
  return elements_of<float>(constant->data)[0];
}

} // namespace

made_kernel make_highway_unary(const kernel_spec& spec, weight_cache&) {
  const auto* known = std::ranges::find(entries, spec.op_type, &unary_entry::op_type);
  if (known == entries.end())
    return decline("{} has no vectorised step", spec.op_type);
  step what = known->what;
  if (spec.op_type == "Gelu" && spec.attributes->text("approximate", "none") == "tanh")
    what.kind = step_kind::gelu_tanh;
  if (spec.op_type != "HardSwish") {
    what.alpha = spec.attributes->real("alpha", what.alpha);
    what.beta = spec.attributes->real("beta", what.beta);
  }
  return one_step(spec, what);
}

made_kernel make_highway_clip(const kernel_spec& spec, weight_cache&) {
  float low = std::numeric_limits<float>::lowest();
  float high = std::numeric_limits<float>::max();
  if (spec.version < 11) {
    low = spec.attributes->real("min", low);
    high = spec.attributes->real("max", high);
  } else {
    const auto least = constant_bound(spec, 1, low);
    const auto most = constant_bound(spec, 2, high);
    if (!least || !most)
      return decline("{}", !least ? least.error() : most.error());
    low = *least;
    high = *most;
  }
  return one_step(spec, {step_kind::clip, low, high});
}

} // namespace troupe::cpu
