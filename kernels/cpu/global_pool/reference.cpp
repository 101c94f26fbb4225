// One value per image and channel from all spatial positions. ONNX: GlobalAveragePool-1,
// GlobalMaxPool-1.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spatial.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <limits>

namespace troupe::cpu {

made_kernel make_reference_global_pool(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  const auto rank = spec.inputs[0].desc.dims.size();
  if (rank < 2 || rank > 5)
    return decline("input has rank {}: 2 to 5 are supported", rank);
  const auto input = spatial_of(spec.inputs[0].desc);
  const auto output = spatial_of(spec.outputs[0]);
  const bool maximum = spec.op_type == "GlobalMaxPool";
  return make_kernel({}, [input, output, maximum](const kernel_args& args) {
    const auto* x = args.inputs[0].as<const float>();
    auto* y = args.outputs[0].as<float>();
    const auto places = static_cast<double>(input.sizes[0] * input.sizes[1] * input.sizes[2]);
    for (std::int64_t image = 0; image < input.images; ++image)
      for (std::int64_t channel = 0; channel < input.channels; ++channel) {
        double sum = 0;
        float best = -std::numeric_limits<float>::infinity();
        for_each_place(input.sizes, [&](const spatial_index& place) {
          const float value = x[input.offset(image, channel, place)];
          sum += static_cast<double>(value);
          best = std::max(best, value);
        });
        y[output.offset(image, channel, {0, 0, 0})] =
            maximum ? best : static_cast<float>(sum / places);
      }
  });
}

} // namespace troupe::cpu
