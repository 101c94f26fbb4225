// Convolution by its definition, one to three spatial axes, summed in double precision.
// ONNX: Conv-22.

#include "kernels/cpu/conv/by_definition.hpp"
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
  return make_convolution_by_definition(spec, false,
                                        [](const auto&... of) { return sum_at(of...); });
}

} // namespace troupe::cpu
