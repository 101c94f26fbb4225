#include "kernels/cpu/conv/geometry.hpp"

#include "kernels/cpu/placement.hpp"

namespace troupe::cpu {

tl::expected<conv_geometry, std::string> conv_geometry_of(const kernel_spec& spec,
                                                          bool transposed) {
  if (spec.inputs.size() < 2 || spec.outputs.empty())
    return decline("expected an input, weights and an output");
  const auto& input = spec.inputs[0].desc;
  if (input.type != dtype::float32 || spec.inputs[1].desc.type != dtype::float32
      || spec.outputs[0].type != dtype::float32)
    return decline("only FP32, found {}", to_string(input.type));
  auto conv = conv_geometry_of(spec, spec.inputs[1], transposed);
  if (!conv)
    return conv;
  conv->has_bias = spec.inputs.size() > 2 && spec.inputs[2].present;
  for (const auto& step : spec.post_ops)
    if ((step.kind == post_op_kind::add || step.kind == post_op_kind::multiply)
        && step.operand == 2)
      conv->has_bias = false; // the third input is a post-op's
  return conv;
}

tl::expected<conv_geometry, std::string> conv_geometry_of(const kernel_spec& spec,
                                                          const operand& weights, bool transposed) {
  const auto& input = spec.inputs[0].desc;
  const auto& output = spec.outputs[0];
  const auto rank = input.dims.size();
  if (rank < 3 || rank > 4 || weights.desc.dims.size() != rank || output.dims.size() != rank)
    return decline("only 1-D and 2-D, found an input of {}", to_string(input.dims));
  if (!weights.constant)
    return decline("the weights are not constant");
  if (output.elements() == 0 || input.elements() == 0)
    return decline("an empty tensor");

  const auto& w = weights.desc.dims;
  const std::span<const std::int64_t> kernel{w.data() + 2, rank - 2};
  const auto axes = transposed ? transposed_window(*spec.attributes, input.dims, kernel)
                               : sliding_window(*spec.attributes, input.dims, kernel);
  if (!axes)
    return tl::unexpected{axes.error().text};
  conv_geometry conv;
  conv.batch = input.dims[0];
  conv.channels = input.dims[1];
  conv.groups = spec.attributes->integer("group", 1);
  if (conv.groups < 1 || conv.channels % conv.groups != 0)
    return decline("{} channels in {} groups", conv.channels, conv.groups);
  conv.out_channels = transposed ? w[1] * conv.groups : w[0];
  const auto read = transposed ? w[0] : w[1] * conv.groups;
  if (read != conv.channels || conv.out_channels % conv.groups != 0)
    return decline("weights of {} for an input of {} in {} groups", to_string(w),
                   to_string(input.dims), conv.groups);
  conv.x = axes->back();
  conv.y = axes->size() == 2 ? axes->front() : window_axis{.input = 1, .output = 1};
  if (output.dims[0] != conv.batch || output.dims[1] != conv.out_channels
      || output.dims.back() != conv.x.output || (rank == 4 && output.dims[2] != conv.y.output))
    return decline("the output of {} does not follow from the attributes", to_string(output.dims));
  return conv;
}

bool is_pointwise(const conv_geometry& conv) noexcept {
  const auto single = [](const window_axis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0
           && axis.output == axis.input;
  };
  return conv.groups == 1 && single(conv.y) && single(conv.x);
}

tl::expected<conv_geometry, std::string> pointwise_geometry_of(const kernel_spec& spec) {
  auto conv = conv_geometry_of(spec, false);
  if (!conv)
    return conv;
  if (!is_pointwise(*conv))
    return decline("the window is not a single element of stride 1");
  if (!lies_channels_last(spec.inputs[0].desc) || !lies_channels_last(spec.outputs[0]))
    return decline("input or output is not channels-last");
  return conv;
}

} // namespace troupe::cpu
