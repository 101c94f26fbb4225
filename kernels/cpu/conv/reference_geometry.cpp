#include "kernels/cpu/conv/reference_geometry.hpp"

#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

namespace {

// Channels of input, weights and output; weights are [M, C / group, …], transposed [C, M / group,
// …].
bool channels_agree(const reference_convolution& conv, bool transposed) {
  const auto& inward = transposed ? conv.output : conv.input;
  const auto& outward = transposed ? conv.input : conv.output;
  return conv.groups >= 1 && conv.weights.channels * conv.groups == inward.channels
         && conv.weights.images == outward.channels && outward.channels % conv.groups == 0;
}

} // namespace

tl::expected<reference_convolution, std::string> reference_convolution_of(const kernel_spec& spec,
                                                                          bool transposed) {
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  const auto& input = spec.inputs[0].desc;
  const auto& weights = spec.inputs[1].desc;
  for (std::size_t i = 1; i < spec.inputs.size(); ++i)
    if (spec.inputs[i].present && spec.inputs[i].desc.type != input.type)
      return decline("input {} is {}, input 0 {}", i, to_string(spec.inputs[i].desc.type),
                     to_string(input.type));
  const auto rank = input.dims.size();
  if (rank < 3 || rank > 5 || weights.dims.size() != rank || spec.outputs[0].dims.size() != rank)
    return decline("one to three spatial axes expected, found input {} and weights {}",
                   to_string(input.dims), to_string(weights.dims));
  const std::span<const std::int64_t> kernel{weights.dims.data() + 2, rank - 2};
  const auto moves = transposed ? transposed_window(*spec.attributes, input.dims, kernel)
                                : sliding_window(*spec.attributes, input.dims, kernel);
  if (!moves)
    return decline("{}", moves.error().text);
  const reference_convolution conv{spatial_of(input), spatial_of(weights),
                                   spatial_of(spec.outputs[0]), spatial_window_of(*moves),
                                   spec.attributes->integer("group", 1)};
  if (!channels_agree(conv, transposed))
    return decline("weights {} do not match {} input and {} output channels in {} groups",
                   to_string(weights.dims), conv.input.channels, conv.output.channels, conv.groups);
  return conv;
}

} // namespace troupe::cpu
