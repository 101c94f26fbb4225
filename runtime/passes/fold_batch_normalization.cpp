// BatchNormalization behind a convolution is an affine map of each channel, and so is part of the
// convolution's weight and bias.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/channel_affine.hpp"

#include <cmath>

namespace troupe::passes {

namespace {

std::optional<channel_affine> affine_of(const graph::graph& on, const node& norm,
                                        std::int64_t channels) {
  std::vector<std::vector<double>> parameters; // scale, bias, mean, variance
  for (std::size_t input = 1; input < 5; ++input) {
    auto numbers = per_channel(on, norm.inputs[input], channels, 2);
    if (!numbers)
      return std::nullopt;
    parameters.push_back(std::move(*numbers));
  }
  const double epsilon = norm.attributes.real("epsilon", 1e-5F);
  channel_affine then;
  for (std::size_t channel = 0; channel < parameters[0].size(); ++channel) {
    const double scale = parameters[0][channel] / std::sqrt(parameters[3][channel] + epsilon);
    then.scale.push_back(scale);
    then.shift.push_back(parameters[1][channel] - parameters[2][channel] * scale);
  }
  return then;
}

} // namespace

result<std::size_t> fold_batch_normalization(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t folded = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    if (on.nodes[id].removed || !on.nodes[id].domain.empty()
        || on.nodes[id].op_type != "BatchNormalization")
      continue;
    const auto conv = edit.host_of(on.nodes[id].inputs.front());
    const auto channels = conv ? foldable_channels(on, on.nodes[*conv]) : std::nullopt;
    if (!channels)
      continue;
    const auto then = affine_of(on, on.nodes[id], *channels);
    if (!then)
      continue;
    fold_into(edit, *conv, *then);
    edit.swallow(*conv, id, {});
    ++folded;
  }
  return folded;
}

} // namespace troupe::passes
