// LayerNormalization over contiguous rows; BatchNormalization as one multiplication and one
// addition per element.

#include "kernels/cpu/elementwise/program.hpp"
#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/rows/rows.hpp"
#include "kernels/cpu/spec.hpp"

#include <cmath>

namespace troupe::cpu {

made_kernel make_highway_layer_normalization(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (has_output(spec, 1) || has_output(spec, 2))
    return decline("mean and deviation are asked for");
  const auto& dims = spec.inputs[0].desc.dims;
  const auto axis = axis_index(spec.attributes->integer("axis", -1), dims.size());
  if (!axis)
    return decline("the axis is out of range");
  const auto rows = element_count({dims.data(), *axis});
  const auto width = element_count({dims.data() + *axis, dims.size() - *axis});
  for (std::size_t i = 1; i < 3; ++i)
    if (has_input(spec, i) && spec.inputs[i].desc.elements() != width)
      return decline("scale or bias is broadcast");
  const float epsilon = spec.attributes->real("epsilon", 1e-5F);
  return make_kernel(
      {.name = "highway", .overwrites = 1},
      [rows, width, epsilon, threads = spec.threads](const kernel_args& args) {
        const auto* x = args.inputs[0].as<const float>();
        const auto* scale = args.inputs[1].as<const float>();
        const auto* bias = has_data(args, 2) ? args.inputs[2].as<const float>() : nullptr;
        auto* y = args.outputs[0].as<float>();
        parallel_for(threads, rows, width * 4, [&](std::int64_t begin, std::int64_t end) {
          for (auto row = begin; row < end; ++row)
            normalize_row(x + row * width, scale, bias, epsilon, y + row * width,
                          static_cast<std::size_t>(width));
        });
      });
}

made_kernel make_highway_batch_normalization(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec, 5))
    return decline("{}", *why);
  for (std::size_t i = 1; i < spec.outputs.size(); ++i)
    if (has_output(spec, i))
      return decline("training outputs are not supported");
  if (spec.attributes->integer("training_mode", 0) != 0
      || spec.attributes->integer("spatial", 1) == 0)
    return decline("training mode and statistics per position are not supported");
  const auto& input = spec.inputs[0].desc;
  if (input.dims.size() < 2)
    return decline("expected channels at axis 1, found {}", to_string(input.dims));
  const auto channels = static_cast<std::size_t>(input.dims[1]);
  std::span<const float> read[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& constant = spec.inputs[i + 1].constant;
    if (!constant)
      return decline("scale, bias, mean and variance are not all initializers");
    read[i] = elements_of<float>(constant->data);
    if (read[i].size() != channels)
      return decline("input {} has {} values for {} channels", i + 1, read[i].size(), channels);
  }
  const auto [scale, bias, mean, variance] = read;
  const float epsilon = spec.attributes->real("epsilon", 1e-5F);
  auto factor = std::make_shared<std::vector<float>>(channels);
  auto offset = std::make_shared<std::vector<float>>(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    (*factor)[c] = scale[c] / std::sqrt(variance[c] + epsilon);
    (*offset)[c] = bias[c] - mean[c] * (*factor)[c];
  }
  tensor_desc per_channel{dtype::float32, shape(input.dims.size(), 1)};
  per_channel.dims[1] = input.dims[1];
  std::vector<program_operand> operands{
      {0, input}, {0, per_channel, std::move(factor)}, {0, per_channel, std::move(offset)}};
  std::vector<program::part> parts{{{step_kind::multiply}, 1}, {{step_kind::add}, 2}};
  program::append_post_ops(spec, operands, parts);
  return program::make_kernel_of(
      program::make(spec.outputs[0], std::move(operands), std::move(parts), spec.threads),
      "highway", spec.outputs[0]);
}

} // namespace troupe::cpu
