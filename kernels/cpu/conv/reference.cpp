// Convolution by its definition, one to three spatial axes, summed in double precision.
// ONNX: Conv-11.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spatial.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

namespace {

struct convolution {
  spatial input;
  spatial weights;
  spatial output;
  spatial_window moves;
  std::int64_t groups;

  float at(const float* x, const float* w, std::int64_t image, std::int64_t channel,
           const spatial_index& place) const {
    const auto per_group = output.channels / groups;
    const auto first = channel / per_group * weights.channels;
    double sum = 0;
    for_each_tap(moves, place, input.sizes,
                 [&](const spatial_index& tap, const spatial_index& from) {
                   for (std::int64_t c = 0; c < weights.channels; ++c)
                     sum += static_cast<double>(x[input.offset(image, first + c, from)])
                            * static_cast<double>(w[weights.offset(channel, c, tap)]);
                 });
    return static_cast<float>(sum);
  }
};

} // namespace

made_kernel make_reference_conv(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  const auto& weights = spec.inputs[1].desc.dims;
  if (weights.size() != spec.inputs[0].desc.dims.size() || weights.size() < 3)
    return decline("weights {} do not match input {}", to_string(weights),
                   to_string(spec.inputs[0].desc.dims));
  const auto moves = sliding_window(*spec.attributes, spec.inputs[0].desc.dims,
                                    {weights.data() + 2, weights.size() - 2});
  if (!moves)
    return decline("{}", moves.error().text);
  if (moves->size() > 3)
    return decline("{} spatial axes: at most 3 are supported", moves->size());
  const convolution conv{spatial_of(spec.inputs[0].desc), spatial_of(spec.inputs[1].desc),
                         spatial_of(spec.outputs[0]), spatial_window_of(*moves),
                         spec.attributes->integer("group", 1)};
  if (conv.groups < 1 || conv.weights.channels * conv.groups != conv.input.channels
      || conv.output.channels % conv.groups != 0)
    return decline("{} groups of {} channels do not make the input's {}", conv.groups,
                   conv.weights.channels, conv.input.channels);
  return make_kernel({}, [conv](const kernel_args& args) {
    const auto* x = args.inputs[0].as<const float>();
    const auto* w = args.inputs[1].as<const float>();
    const auto* bias = has_data(args, 2) ? args.inputs[2].as<const float>() : nullptr;
    auto* y = args.outputs[0].as<float>();
    for (std::int64_t image = 0; image < conv.output.images; ++image)
      for (std::int64_t channel = 0; channel < conv.output.channels; ++channel)
        for_each_place(conv.output.sizes, [&](const spatial_index& place) {
          y[conv.output.offset(image, channel, place)] =
              conv.at(x, w, image, channel, place) + (bias ? bias[channel] : 0.0F);
        });
  });
}

} // namespace troupe::cpu
