// A constant multiplied with or added to a convolution's output, the same for a channel's whole
// plane, is part of its weight and bias: biases written as Add, learnable scales, normalisation by
// hand.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/channel_affine.hpp"
#include "runtime/passes/match.hpp"

namespace troupe::passes {

namespace {

// What `of` does to each channel of `x`, if the rest of it is constant.
std::optional<channel_affine> affine_of(const graph::graph& on, const node& of, value_id x,
                                        std::int64_t channels) {
  const bool x_first = of.inputs[0] == x;
  const auto& dims = on.values[x].dims;
  if (!dims || !same_dims(on, x, of.outputs.front()))
    return std::nullopt;
  const auto numbers = per_channel(on, of.inputs[x_first ? 1 : 0], channels, dims->size());
  if (!numbers)
    return std::nullopt;
  const auto count = numbers->size();
  channel_affine then{std::vector<double>(count, 1.0), std::vector<double>(count, 0.0)};
  if (of.op_type == "Mul")
    then.scale = *numbers;
  else if (of.op_type == "Add")
    then.shift = *numbers;
  else if (of.op_type == "Div" && x_first)
    for (std::size_t channel = 0; channel < count; ++channel)
      then.scale[channel] = 1.0 / (*numbers)[channel];
  else if (of.op_type == "Sub")
    for (std::size_t channel = 0; channel < count; ++channel) {
      then.scale[channel] = x_first ? 1.0 : -1.0;
      then.shift[channel] = x_first ? -(*numbers)[channel] : (*numbers)[channel];
    }
  else
    return std::nullopt;
  return then;
}

} // namespace

result<std::size_t> fold_affine(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t folded = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (of.removed || !of.domain.empty() || of.inputs.size() < 2)
      continue;
    for (auto x : {of.inputs[0], of.inputs[1]}) {
      const auto conv = edit.host_of(x);
      const auto channels = conv ? foldable_channels(on, on.nodes[*conv]) : std::nullopt;
      const auto then = channels ? affine_of(on, of, x, *channels) : std::nullopt;
      if (!then)
        continue;
      fold_into(edit, *conv, *then);
      edit.swallow(*conv, id, {});
      ++folded;
      break;
    }
  }
  return folded;
}

} // namespace troupe::passes
