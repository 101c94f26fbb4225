// Which layouts the operators work on. An operator that is not listed needs its axes as written.

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/quantize/scaled_bytes.hpp"

#include <algorithm>
#include <array>

namespace troupe::cpu {

namespace {

struct rule_entry {
  std::string_view op_type;
  layout_rule rule;
  std::string_view domain = {};
};

constexpr auto prefers = layout_rule::prefers_channels_last;
constexpr auto follows = layout_rule::follows;

constexpr std::array rules{
    rule_entry{"Conv", prefers},
    rule_entry{"ConvTranspose", prefers},
    rule_entry{"MaxPool", prefers},
    rule_entry{"AveragePool", prefers},
    rule_entry{"GlobalAveragePool", prefers},
    rule_entry{"Resize", prefers},
    rule_entry{"QLinearConv", prefers},
    rule_entry{"QLinearAdd", follows, "troupe"},
    rule_entry{"SqueezeExcite", prefers, "troupe"},
    rule_entry{"QuantizeLinear", follows},
    rule_entry{"DequantizeLinear", follows},
    rule_entry{"BatchNormalization", follows},
    rule_entry{"Concat", follows},
    rule_entry{"Add", follows},
    rule_entry{"Sub", follows},
    rule_entry{"Mul", follows},
    rule_entry{"Div", follows},
    rule_entry{"Pow", follows},
    rule_entry{"Relu", follows},
    rule_entry{"LeakyRelu", follows},
    rule_entry{"Clip", follows},
    rule_entry{"Sigmoid", follows},
    rule_entry{"Tanh", follows},
    rule_entry{"HardSigmoid", follows},
    rule_entry{"HardSwish", follows},
    rule_entry{"Gelu", follows},
    rule_entry{"Erf", follows},
    rule_entry{"Exp", follows},
    rule_entry{"Sqrt", follows},
    rule_entry{"Neg", follows},
    rule_entry{"Abs", follows},
    rule_entry{"Identity", follows},
};

// Bytes are left as they lie by what was not made for them.
bool takes_types(const kernel_spec& spec) {
  if (spec.op_type == "QuantizeLinear" || spec.op_type == "DequantizeLinear")
    return scaling_of(spec).has_value();
  const auto type = spec.outputs[0].type;
  if (type == dtype::int8 || type == dtype::uint8)
    return spec.op_type == "MaxPool" || spec.op_type.starts_with("QLinear");
  return type == dtype::float32;
}

bool has_channels_and_space(const tensor_desc& desc) {
  return desc.dims.size() >= 3 && desc.dims.size() <= 4;
}

} // namespace

layout_rule layouts_for(const kernel_spec& spec) {
  const auto* known = std::ranges::find_if(rules, [&](const rule_entry& entry) {
    return entry.op_type == spec.op_type && entry.domain == spec.domain;
  });
  if (known == rules.end() || spec.outputs.empty() || !has_channels_and_space(spec.outputs[0])
      || !takes_types(spec))
    return layout_rule::row_major_only;
  // A second output (indices of MaxPool, statistics) speaks of positions in the axes as written.
  if (spec.outputs.size() > 1 && (spec.outputs_wanted.size() < 2 || spec.outputs_wanted[1]))
    return layout_rule::row_major_only;
  return known->rule;
}

} // namespace troupe::cpu
