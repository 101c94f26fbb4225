// Transposed convolution by its definition: an output element sums what every input element whose
// weighted window covers it adds. ONNX: ConvTranspose-22. Weights are [C, M / group, spatial…].

#include "kernels/cpu/conv/by_definition.hpp"
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
  return make_convolution_by_definition(spec, true,
                                        [](const auto&... of) { return sum_at(of...); });
}

} // namespace troupe::cpu
