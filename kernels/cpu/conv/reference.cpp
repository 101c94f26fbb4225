// Convolution by its definition, one to three spatial axes, summed in double precision.
// ONNX: Conv-22.

#include "kernels/cpu/conv/reference_geometry.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"

namespace troupe::cpu {

namespace {

template <class T>
double sum_at(const reference_convolution& conv, const T* x, const T* w, std::int64_t image,
              std::int64_t channel, const spatial_index& place) {
  const auto per_group = conv.output.channels / conv.groups;
  const auto first = channel / per_group * conv.weights.channels;
  double sum = 0;
  for_each_tap(conv.moves, place, conv.input.sizes,
               [&](const spatial_index& tap, const spatial_index& from) {
                 for (std::int64_t c = 0; c < conv.weights.channels; ++c)
                   sum += static_cast<double>(static_cast<computed<T>>(
                              x[conv.input.offset(image, first + c, from)]))
                          * static_cast<double>(
                              static_cast<computed<T>>(w[conv.weights.offset(channel, c, tap)]));
               });
  return sum;
}

} // namespace

made_kernel make_reference_conv(const kernel_spec& spec, weight_cache&) {
  const auto found = reference_convolution_of(spec, false);
  if (!found)
    return tl::unexpected{found.error()};
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [conv = *found, threads = spec.threads](const kernel_args& args) {
      const auto* x = args.inputs[0].as<const element>();
      const auto* w = args.inputs[1].as<const element>();
      const auto* bias = has_data(args, 2) ? args.inputs[2].as<const element>() : nullptr;
      auto* y = args.outputs[0].as<element>();
      const auto planes = conv.output.images * conv.output.channels;
      parallel_for(threads, planes, parallel_threshold, [&](std::int64_t begin, std::int64_t end) {
        for (auto plane = begin; plane < end; ++plane) {
          const auto image = plane / conv.output.channels;
          const auto channel = plane % conv.output.channels;
          const auto more = bias ? static_cast<computed<element>>(bias[channel]) : 0;
          for_each_place(conv.output.sizes, [&](const spatial_index& place) {
            const auto sum = sum_at(conv, x, w, image, channel, place);
            y[conv.output.offset(image, channel, place)] =
                static_cast<element>(static_cast<computed<element>>(sum) + more);
          });
        }
      });
    });
  });
}

} // namespace troupe::cpu
