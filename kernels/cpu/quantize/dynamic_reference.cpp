// Quantises to UINT8 with the scale and zero point that the data asks for. ONNX:
// DynamicQuantizeLinear-11.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/quantize/quantize.hpp"
#include "kernels/cpu/quantized_kernels.hpp"

namespace troupe::cpu {

made_kernel make_reference_dynamic_quantize_linear(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (spec.inputs[0].desc.type != dtype::float32 || spec.outputs.size() != 3 || !has_output(spec, 0)
      || !has_output(spec, 1) || !has_output(spec, 2))
    return decline("FP32 in and three outputs expected, {} in and {} outputs found",
                   to_string(spec.inputs[0].desc.type), spec.outputs.size());
  return make_kernel({}, [count = spec.inputs[0].desc.elements()](const kernel_args& args) {
    const auto* x = args.inputs[0].as<const float>();
    float low = 0;
    float high = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      low = x[i] < low ? x[i] : low;
      high = x[i] > high ? x[i] : high;
    }
    const float scale = low == high ? 1.0F / 255.0F : (high - low) / 255.0F;
    const float zero_point = rounded_between(-low / scale, 0, 255);
    auto* y = args.outputs[0].as<std::uint8_t>();
    for (std::int64_t i = 0; i < count; ++i)
      y[i] = quantized<std::uint8_t>(x[i] / scale, zero_point);
    *args.outputs[1].as<float>() = scale;
    *args.outputs[2].as<std::uint8_t>() = static_cast<std::uint8_t>(zero_point);
  });
}

} // namespace troupe::cpu
