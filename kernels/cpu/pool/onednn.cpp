// MaxPool, AveragePool, GlobalMaxPool and GlobalAveragePool as oneDNN's pooling.

#include "kernels/cpu/onednn.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/op/window.hpp"

#include <algorithm>

namespace troupe::cpu {
namespace {

using namespace onednn;
using primitive_desc = dnnl::pooling_forward::primitive_desc;

// The last window may reach beyond the declared padding (ceil_mode) or stop before the input's end.
std::int64_t end_padding(const window_axis& axis) {
  const auto end = (axis.output - 1) * axis.stride + axis.span();
  return std::max<std::int64_t>(end - axis.input - axis.pad_begin, 0);
}

tl::expected<window, std::string> window_of(const kernel_spec& spec, bool global) {
  const auto& dims = spec.inputs[0].desc.dims;
  if (global) {
    window whole;
    for (std::size_t axis = 2; axis < dims.size(); ++axis)
      whole.push_back({.input = dims[axis], .output = 1, .kernel = dims[axis], .stride = 1});
    return whole;
  }
  auto declared = sliding_window(*spec.attributes, dims, {});
  if (!declared)
    return tl::unexpected{std::move(declared).error().text};
  return *std::move(declared);
}

std::optional<dnnl::memory::data_type> type_of(const kernel_spec& spec) {
  using data_type = dnnl::memory::data_type;
  const auto type = spec.inputs[0].desc.type;
  const bool max = spec.op_type == "MaxPool" && spec.post_ops.empty();
  if (spec.outputs[0].type != type)
    return std::nullopt;
  switch (type) {
    case dtype::float32: return data_type::f32;
    case dtype::uint8: return max ? std::optional{data_type::u8} : std::nullopt;
    case dtype::int8: return max ? std::optional{data_type::s8} : std::nullopt;
    default: return std::nullopt;
  }
}

} // namespace

made_kernel make_onednn_pool(const kernel_spec& spec, weight_cache&) {
  const auto& input = spec.inputs[0].desc;
  const auto& output = spec.outputs[0];
  const auto type = type_of(spec);
  if (!type)
    return decline("only FP32, and bytes for a maximum, found {}", to_string(input.type));
  if (input.dims.size() < 3 || input.dims.size() > 4 || output.dims.size() != input.dims.size())
    return decline("only 1-D and 2-D, found an input of {}", to_string(input.dims));
  if (output.elements() == 0 || input.elements() == 0)
    return decline("an empty tensor");
  if (spec.outputs.size() > 1 && (spec.outputs_wanted.size() < 2 || spec.outputs_wanted[1]))
    return decline("the indices are wanted");
  if (!lies_channels_last(input) || !lies_channels_last(output))
    return decline("input or output is not channels-last");

  const bool global = spec.op_type.starts_with("Global");
  const auto axes = window_of(spec, global);
  if (!axes)
    return tl::unexpected{axes.error()};
  const auto x = axes->back();
  const auto y = axes->size() == 2 ? axes->front() : window_axis{.input = 1, .output = 1};
  if (output.dims.back() != x.output || (output.dims.size() == 4 && output.dims[2] != y.output))
    return decline("the output of {} does not follow from the attributes", to_string(output.dims));
  if (x.dilation != 1 || y.dilation != 1)
    return decline("dilated windows");
  const bool max = spec.op_type == "MaxPool" || spec.op_type == "GlobalMaxPool";
  const bool include_pad = spec.attributes->integer("count_include_pad", 0) != 0;
  if (include_pad && (end_padding(x) > x.pad_end || end_padding(y) > y.pad_end))
    return decline("count_include_pad with windows beyond the padding");
  const auto kind = max           ? dnnl::algorithm::pooling_max
                    : include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                  : dnnl::algorithm::pooling_avg_exclude_padding;
  const memory_desc source{{input.dims[0], input.dims[1], y.input, x.input}, *type, format::nhwc};
  const memory_desc destination{
      {input.dims[0], input.dims[1], y.output, x.output}, *type, format::nhwc};
  const auto fused = fuse(spec, {}, destination, beside_channels);
  if (!fused)
    return tl::unexpected{fused.error()};
  const auto chosen = attempt([&]() -> primitive_desc {
    const dnnl::pooling_forward::desc desc{dnnl::prop_kind::forward_inference,
                                           kind,
                                           source,
                                           destination,
                                           {y.stride, x.stride},
                                           {y.kernel, x.kernel},
                                           {y.pad_begin, x.pad_begin},
                                           {end_padding(y), end_padding(x)}};
    return {desc, fused->attributes, cpu_engine()};
  });
  if (!chosen)
    return tl::unexpected{chosen.error()};
  const std::string name = chosen->impl_info_str();
  if (is_reference(name))
    return decline("oneDNN only has {}", name);
  using from = binding::source;
  std::vector<binding> arguments{
      {DNNL_ARG_SRC, source, from::input, 0},
      {DNNL_ARG_DST, destination, from::output, 0},
      {DNNL_ARG_SCRATCHPAD, chosen->scratchpad_desc(), from::workspace, 0}};
  arguments.insert(arguments.end(), fused->operands.begin(), fused->operands.end());
  return make_primitive_kernel(name, dnnl::pooling_forward{*chosen}, std::move(arguments));
}

} // namespace troupe::cpu
