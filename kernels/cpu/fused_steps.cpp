#include "kernels/cpu/fused_steps.hpp"

namespace troupe::cpu {

tl::expected<fused_steps, std::string> fused_steps::make(const kernel_spec& spec,
                                                         std::size_t first) {
  const auto steps = spec.post_ops.subspan(first);
  if (steps.size() > limit)
    return decline("more than {} post-ops", limit);
  fused_steps fused;
  for (const auto& step : steps) {
    switch (step.kind) {
      case post_op_kind::relu:
      case post_op_kind::leaky_relu:
      case post_op_kind::clip:
      case post_op_kind::linear:
      case post_op_kind::hard_sigmoid:
      case post_op_kind::hard_swish:
      case post_op_kind::sigmoid:
      case post_op_kind::tanh:
      case post_op_kind::silu:
      case post_op_kind::gelu_erf:
      case post_op_kind::gelu_tanh: break;
      case post_op_kind::add:
        if (spec.inputs[step.operand].desc != spec.outputs[0])
          return decline("the addend of {} is no residual in the output's layout",
                         to_string(spec.inputs[step.operand].desc.dims));
        break;
      case post_op_kind::multiply: return decline("a factor that is a tensor");
    }
    fused.steps[fused.count++] = step;
  }
  return fused;
}

std::array<const float*, fused_steps::limit>
fused_steps::operands(const kernel_args& args) const noexcept {
  std::array<const float*, limit> found{};
  for (std::size_t i = 0; i < count; ++i)
    if (steps[i].kind == post_op_kind::add)
      found[i] = args.inputs[steps[i].operand].as<const float>();
  return found;
}

} // namespace troupe::cpu
