#include "kernels/cpu/fused_steps.hpp"

namespace troupe::cpu {

tl::expected<fused_steps, std::string> fused_steps::make(const kernel_spec& spec) {
  if (spec.post_ops.size() > limit)
    return decline("more than {} post-ops", limit);
  fused_steps fused;
  for (const auto& step : spec.post_ops) {
    switch (step.kind) {
      case post_op_kind::relu:
      case post_op_kind::leaky_relu:
      case post_op_kind::clip:
      case post_op_kind::linear:
      case post_op_kind::hard_sigmoid:
      case post_op_kind::hard_swish: break;
      case post_op_kind::add:
        if (spec.inputs[step.operand].desc != spec.outputs[0])
          return decline("the addend of {} is no residual in the output's layout",
                         to_string(spec.inputs[step.operand].desc.dims));
        break;
      default: return decline("a post-op is neither a cheap activation nor a residual");
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
