// ONNX: BatchNormalization-15 (inference), LayerNormalization-17.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <array>
#include <cmath>

namespace troupe::cpu {

made_kernel make_reference_batch_normalization(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  for (std::size_t i = 1; i < spec.outputs.size(); ++i)
    if (has_output(spec, i))
      return decline("training outputs are not supported");
  if (spec.attributes->integer("training_mode", 0) != 0)
    return decline("training mode is not supported");
  if (spec.version < 9 && spec.attributes->integer("spatial", 1) == 0)
    return decline("statistics per position (spatial = 0) are not supported");
  const auto& input = spec.inputs[0].desc;
  if (input.dims.size() < 2 || input.format != spec.outputs[0].format)
    return decline("expected channels at axis 1, found {}", to_string(input.dims));
  const float epsilon = spec.attributes->real("epsilon", 1e-5F);
  // Channel c of the per-channel vectors, broadcast as [1, C, 1, …].
  tensor_desc channels{dtype::float32, shape(input.dims.size(), 1)};
  channels.dims[1] = input.dims[1];
  const std::array operands{input, channels};
  auto loops = iterate(input, operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  return make_kernel({.overwrites = 1}, [loops = *loops, epsilon](const kernel_args& args) {
    const auto* x = args.inputs[0].as<const float>();
    const auto* scale = args.inputs[1].as<const float>();
    const auto* bias = args.inputs[2].as<const float>();
    const auto* mean = args.inputs[3].as<const float>();
    const auto* variance = args.inputs[4].as<const float>();
    auto* y = args.outputs[0].as<float>();
    for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
      for (std::int64_t i = 0; i < loops.inner(); ++i) {
        const auto c = offsets[1] + i * loops.strides[1].back();
        const auto at = row * loops.inner() + i;
        y[at] = (x[at] - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
      }
    });
  });
}

made_kernel make_reference_layer_normalization(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  const auto axis = axis_index(spec.attributes->integer("axis", -1), dims.size());
  if (!axis)
    return decline("axis {} is out of range", spec.attributes->integer("axis", -1));
  const auto width = element_count({dims.data() + *axis, dims.size() - *axis});
  const auto rows = element_count({dims.data(), *axis});
  for (std::size_t i = 1; i < 3; ++i)
    if (has_input(spec, i) && spec.inputs[i].desc.elements() != width)
      return decline("input {} has {} elements, expected {}", i, spec.inputs[i].desc.elements(),
                     width);
  const float epsilon = spec.attributes->real("epsilon", 1e-5F);
  return make_kernel({.overwrites = 1}, [width, rows, epsilon](const kernel_args& args) {
    const auto* scale = args.inputs[1].as<const float>();
    const auto* bias = has_data(args, 2) ? args.inputs[2].as<const float>() : nullptr;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto* x = args.inputs[0].as<const float>() + row * width;
      auto* y = args.outputs[0].as<float>() + row * width;
      double sum = 0;
      for (std::int64_t i = 0; i < width; ++i)
        sum += static_cast<double>(x[i]);
      const double mean = sum / static_cast<double>(width);
      double squares = 0;
      for (std::int64_t i = 0; i < width; ++i)
        squares += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
      const double inverse =
          1.0 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(epsilon));
      for (std::int64_t i = 0; i < width; ++i)
        y[i] = static_cast<float>((static_cast<double>(x[i]) - mean) * inverse) * scale[i]
               + (bias ? bias[i] : 0.0F);
      if (args.outputs.size() > 1 && args.outputs[1].data)
        args.outputs[1].as<float>()[row] = static_cast<float>(mean);
      if (args.outputs.size() > 2 && args.outputs[2].data)
        args.outputs[2].as<float>()[row] = static_cast<float>(inverse);
    }
  });
}

} // namespace troupe::cpu
