// Maximum and average over a moving window. ONNX: MaxPool-12 (without the indices output),
// AveragePool-11, and 19 with dilations.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spatial.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <limits>

namespace troupe::cpu {

namespace {

struct pool {
  spatial input;
  spatial output;
  spatial_window moves;
  bool count_padding = false;

  // Taps that an average divides by. A window that ceil_mode pushed beyond the padded input counts
  // only what lies within it.
  std::int64_t counted(const spatial_index& place) const {
    std::int64_t taps = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto start = place[axis] * moves.strides[axis] - moves.pads[axis];
      const auto low = count_padding ? -moves.pads[axis] : 0;
      const auto high = input.sizes[axis] + (count_padding ? moves.pads_end[axis] : 0);
      std::int64_t along = 0;
      for (std::int64_t tap = 0; tap < moves.kernel[axis]; ++tap) {
        const auto at = start + tap * moves.dilations[axis];
        along += at >= low && at < high ? 1 : 0;
      }
      taps *= along;
    }
    return taps;
  }
};

float maximum(const pool& over, const float* x, std::int64_t image, std::int64_t channel,
              const spatial_index& place) {
  float best = -std::numeric_limits<float>::infinity();
  for_each_tap(over.moves, place, over.input.sizes, [&](const auto&, const spatial_index& from) {
    best = std::max(best, x[over.input.offset(image, channel, from)]);
  });
  return best;
}

float average(const pool& over, const float* x, std::int64_t image, std::int64_t channel,
              const spatial_index& place) {
  double sum = 0;
  for_each_tap(over.moves, place, over.input.sizes, [&](const auto&, const spatial_index& from) {
    sum += static_cast<double>(x[over.input.offset(image, channel, from)]);
  });
  const auto taps = over.counted(place);
  return taps > 0 ? static_cast<float>(sum / static_cast<double>(taps)) : 0.0F;
}

} // namespace

made_kernel make_reference_pool(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  if (has_output(spec, 1))
    return decline("the indices output is not supported");
  const auto moves = sliding_window(*spec.attributes, spec.inputs[0].desc.dims, {});
  if (!moves)
    return decline("{}", moves.error().text);
  if (moves->size() > 3)
    return decline("{} spatial axes: at most 3 are supported", moves->size());
  pool over{spatial_of(spec.inputs[0].desc), spatial_of(spec.outputs[0]),
            spatial_window_of(*moves)};
  over.count_padding = spec.attributes->integer("count_include_pad", 0) != 0;
  const auto of = spec.op_type == "MaxPool" ? maximum : average;
  return make_kernel({}, [over, of](const kernel_args& args) {
    const auto* x = args.inputs[0].as<const float>();
    auto* y = args.outputs[0].as<float>();
    for (std::int64_t image = 0; image < over.output.images; ++image)
      for (std::int64_t channel = 0; channel < over.output.channels; ++channel)
        for_each_place(over.output.sizes, [&](const spatial_index& place) {
          y[over.output.offset(image, channel, place)] = of(over, x, image, channel, place);
        });
  });
}

} // namespace troupe::cpu
