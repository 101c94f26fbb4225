// Add, Sub, Mul, Div, Min, Max, Sum and Pow by a constant, and their post-ops, as one vectorised
// pass.

#include "kernels/cpu/elementwise/program.hpp"
#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>

namespace troupe::cpu {

namespace {

struct binary_entry {
  std::string_view op_type;
  step_kind kind;
  step_kind turned; ///< with the operands exchanged
};

constexpr std::array entries{
    binary_entry{"Add", step_kind::add, step_kind::add},
    binary_entry{"Sum", step_kind::add, step_kind::add},
    binary_entry{"Sub", step_kind::subtract, step_kind::subtract_from},
    binary_entry{"Mul", step_kind::multiply, step_kind::multiply},
    binary_entry{"Div", step_kind::divide, step_kind::divide_into},
    binary_entry{"Min", step_kind::minimum, step_kind::minimum},
    binary_entry{"Max", step_kind::maximum, step_kind::maximum},
};

made_kernel finish(const kernel_spec& spec, std::vector<program_operand> operands,
                   std::vector<program::part> parts) {
  program::append_post_ops(spec, operands, parts);
  return program::make_kernel_of(
      program::make(spec.outputs[0], std::move(operands), std::move(parts), spec.threads),
      "highway", spec.outputs[0]);
}

} // namespace

made_kernel make_highway_binary(const kernel_spec& spec, weight_cache&) {
  const auto* known = std::ranges::find(entries, spec.op_type, &binary_entry::op_type);
  if (known == entries.end())
    return decline("{} has no vectorised step", spec.op_type);
  const auto own = own_inputs(spec);
  // x is the first input that need not be spread over the output.
  std::size_t x = 0;
  for (std::size_t i = 0; i < own; ++i)
    if (spec.inputs[i].desc.elements() == spec.outputs[0].elements()) {
      x = i;
      break;
    }
  if (x != 0 && own != 2 && known->kind != known->turned)
    return decline("{} inputs of an operator that does not commute", own);
  std::vector<program_operand> operands{{x, spec.inputs[x].desc}};
  std::vector<program::part> parts;
  for (std::size_t i = 0; i < own; ++i) {
    if (i == x)
      continue;
    parts.push_back({{x == 0 ? known->kind : known->turned}, operands.size()});
    operands.push_back({i, spec.inputs[i].desc});
  }
  return finish(spec, std::move(operands), std::move(parts));
}

made_kernel make_highway_pow(const kernel_spec& spec, weight_cache&) {
  const auto& constant = spec.inputs[1].constant;
  if (!constant || constant->type != dtype::float32 || element_count(constant->dims) != 1)
    return decline("the exponent is no single FP32 initializer");
  const float exponent = elements_of<float>(constant->data)[0];
  std::vector<program_operand> operands{{0, spec.inputs[0].desc}};
  if (exponent == 2.0F)
    return finish(spec, std::move(operands), {{{step_kind::square}}});
  if (exponent == 0.5F)
    return finish(spec, std::move(operands), {{{step_kind::sqrt}}});
  if (exponent == -1.0F)
    return finish(spec, std::move(operands), {{{step_kind::reciprocal}}});
  return decline("an exponent of {} has no vectorised step", exponent);
}

} // namespace troupe::cpu
