// Transposed convolution by its definition: an output element sums what every input element whose
// weighted window covers it adds. ONNX: ConvTranspose-22. Weights are [C, M / group, spatial…].

#include "kernels/cpu/conv/reference_geometry.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"

namespace troupe::cpu {

namespace {

// The input position whose window has its `tap` at output `place`, or nothing.
bool source_of(const reference_convolution& conv, const spatial_index& place,
               const spatial_index& tap, spatial_index& from) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto steps = place[axis] + conv.moves.pads[axis] - tap[axis] * conv.moves.dilations[axis];
    if (steps < 0 || steps % conv.moves.strides[axis] != 0)
      return false;
    from[axis] = steps / conv.moves.strides[axis];
    if (from[axis] >= conv.input.sizes[axis])
      return false;
  }
  return true;
}

template <class T>
double sum_at(const reference_convolution& conv, const T* x, const T* w, std::int64_t image,
              std::int64_t channel, const spatial_index& place) {
  const auto per_group = conv.input.channels / conv.groups;
  const auto first = channel / conv.weights.channels * per_group;
  const auto filter = channel % conv.weights.channels;
  double sum = 0;
  for_each_place(conv.moves.kernel, [&](const spatial_index& tap) {
    spatial_index from;
    if (!source_of(conv, place, tap, from))
      return;
    for (auto c = first; c < first + per_group; ++c)
      sum +=
          static_cast<double>(static_cast<computed<T>>(x[conv.input.offset(image, c, from)]))
          * static_cast<double>(static_cast<computed<T>>(w[conv.weights.offset(c, filter, tap)]));
  });
  return sum;
}

} // namespace

made_kernel make_reference_conv_transpose(const kernel_spec& spec, weight_cache&) {
  const auto found = reference_convolution_of(spec, true);
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
