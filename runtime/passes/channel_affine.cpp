#include "runtime/passes/channel_affine.hpp"

#include "runtime/passes/match.hpp"

#include <algorithm>

namespace troupe::passes {

namespace {

bool is_floats(const graph::graph& of, value_id constant) {
  return of.is_constant(constant) && of.values[constant].constant->type == dtype::float32;
}

bool has_input(const node& of, std::size_t index) {
  return index < of.inputs.size() && of.inputs[index] != no_value;
}

// The output channel that a weight at (first axis, second axis) contributes to.
std::int64_t channel_of(const node& conv, const shape& weight, std::int64_t first,
                        std::int64_t second) {
  if (conv.op_type == "Conv")
    return first;
  const auto group = conv.attributes.integer("group", 1);
  return first / (weight[0] / group) * weight[1] + second;
}

} // namespace

std::optional<std::int64_t> foldable_channels(const graph::graph& of, const node& conv) {
  const bool transposed = conv.op_type == "ConvTranspose";
  if ((conv.op_type != "Conv" && !transposed) || !conv.domain.empty() || !conv.post_ops.empty()
      || !is_floats(of, conv.inputs[1]) || (has_input(conv, 2) && !is_floats(of, conv.inputs[2])))
    return std::nullopt;
  const auto& weight = of.values[conv.inputs[1]].constant->dims;
  const auto group = conv.attributes.integer("group", 1);
  if (std::ranges::find(weight, 0) != weight.end() || (transposed && weight[0] % group != 0))
    return std::nullopt;
  return transposed ? weight[1] * group : weight[0];
}

std::optional<std::vector<double>> per_channel(const graph::graph& of, value_id constant,
                                               std::int64_t channels, std::size_t rank) {
  if (!is_floats(of, constant))
    return std::nullopt;
  const auto& content = *of.values[constant].constant;
  const auto numbers = elements_of<float>(content.data);
  if (element_count(content.dims) == 1 && content.dims.size() <= rank)
    return std::vector<double>(static_cast<std::size_t>(channels), numbers.front());
  // Counted from the back, the channel axis is the one before all spatial axes.
  const auto spatial = rank - 2;
  const bool shaped = content.dims.size() > spatial && content.dims.size() <= rank
                      && content.dims[content.dims.size() - 1 - spatial] == channels
                      && element_count(content.dims) == channels;
  if (!shaped)
    return std::nullopt;
  return std::vector<double>{numbers.begin(), numbers.end()};
}

namespace {

std::vector<float> scaled_weight(const node& conv, const tensor& old,
                                 const std::vector<double>& scale) {
  const auto from = elements_of<float>(old.data);
  std::vector<float> weight(from.size());
  const auto window = static_cast<std::int64_t>(from.size()) / (old.dims[0] * old.dims[1]);
  std::size_t at = 0;
  for (std::int64_t first = 0; first < old.dims[0]; ++first)
    for (std::int64_t second = 0; second < old.dims[1]; ++second) {
      const auto by = scale[static_cast<std::size_t>(channel_of(conv, old.dims, first, second))];
      for (std::int64_t tap = 0; tap < window; ++tap, ++at)
        weight[at] = static_cast<float>(from[at] * by);
    }
  return weight;
}

bool is_all(const std::vector<double>& numbers, double expected) {
  return std::ranges::all_of(numbers, [&](double number) { return number == expected; });
}

} // namespace

void fold_into(rewriter& edit, node_id conv, const channel_affine& then) {
  const auto& of = edit.on().nodes[conv];
  if (!is_all(then.scale, 1.0)) {
    const auto& old = *edit.on().values[of.inputs[1]].constant;
    const auto weight = scaled_weight(of, old, then.scale);
    edit.set_input(conv, 1, edit.add_constant(of.name + ".weight", make_floats(old.dims, weight)));
  }
  if (!has_input(of, 2) && is_all(then.shift, 0.0))
    return;
  std::vector<float> bias(then.shift.begin(), then.shift.end());
  if (has_input(of, 2)) {
    const auto before = elements_of<float>(edit.on().values[of.inputs[2]].constant->data);
    for (std::size_t channel = 0; channel < bias.size(); ++channel)
      bias[channel] =
          static_cast<float>(before[channel] * then.scale[channel] + then.shift[channel]);
  }
  const auto channels = static_cast<std::int64_t>(bias.size());
  edit.set_input(conv, 2, edit.add_constant(of.name + ".bias", make_floats({&channels, 1}, bias)));
}

} // namespace troupe::passes
