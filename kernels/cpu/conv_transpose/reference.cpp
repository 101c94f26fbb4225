// Transposed convolution: every input element adds its weighted window to the output.
// ONNX: ConvTranspose-11. Weights are [C, M / group, spatial…].

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spatial.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

namespace {

struct transposed_convolution {
  spatial input;
  spatial weights;
  spatial output;
  spatial_window moves;
  std::int64_t groups;

  void scatter(const float* x, const float* w, float* y, std::int64_t image, std::int64_t from,
               const spatial_index& place) const {
    const float value = x[input.offset(image, from, place)];
    const auto first = from / (input.channels / groups) * weights.channels;
    for_each_tap(
        moves, place, output.sizes, [&](const spatial_index& tap, const spatial_index& to) {
          for (std::int64_t c = 0; c < weights.channels; ++c)
            y[output.offset(image, first + c, to)] += value * w[weights.offset(from, c, tap)];
        });
  }
};

} // namespace

made_kernel make_reference_conv_transpose(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  const auto& weights = spec.inputs[1].desc.dims;
  if (weights.size() != spec.inputs[0].desc.dims.size() || weights.size() < 3)
    return decline("weights {} do not match input {}", to_string(weights),
                   to_string(spec.inputs[0].desc.dims));
  const auto moves = transposed_window(*spec.attributes, spec.inputs[0].desc.dims,
                                       {weights.data() + 2, weights.size() - 2});
  if (!moves)
    return decline("{}", moves.error().text);
  if (moves->size() > 3)
    return decline("{} spatial axes: at most 3 are supported", moves->size());
  const transposed_convolution conv{
      spatial_of(spec.inputs[0].desc), spatial_of(spec.inputs[1].desc), spatial_of(spec.outputs[0]),
      spatial_window_of(*moves), spec.attributes->integer("group", 1)};
  if (conv.groups < 1 || conv.weights.images != conv.input.channels
      || conv.input.channels % conv.groups != 0
      || conv.weights.channels * conv.groups != conv.output.channels)
    return decline("weights {} do not match {} input and {} output channels in {} groups",
                   to_string(spec.inputs[1].desc.dims), conv.input.channels, conv.output.channels,
                   conv.groups);
  return make_kernel({}, [conv](const kernel_args& args) {
    const auto* x = args.inputs[0].as<const float>();
    const auto* w = args.inputs[1].as<const float>();
    const auto* bias = has_data(args, 2) ? args.inputs[2].as<const float>() : nullptr;
    auto* y = args.outputs[0].as<float>();
    for (std::int64_t image = 0; image < conv.output.images; ++image) {
      for (std::int64_t channel = 0; channel < conv.output.channels; ++channel)
        for_each_place(conv.output.sizes, [&](const spatial_index& place) {
          y[conv.output.offset(image, channel, place)] = bias ? bias[channel] : 0.0F;
        });
      for (std::int64_t channel = 0; channel < conv.input.channels; ++channel)
        for_each_place(conv.input.sizes, [&](const spatial_index& place) {
          conv.scatter(x, w, y, image, channel, place);
        });
    }
  });
}

} // namespace troupe::cpu
