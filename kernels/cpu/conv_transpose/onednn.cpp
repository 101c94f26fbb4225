// Transposed convolutions in general, as oneDNN's deconvolution.

#include "kernels/cpu/onednn.hpp"
#include "kernels/cpu/conv/geometry.hpp"
#include "kernels/cpu/onednn_kernels.hpp"

namespace troupe::cpu {
namespace {

using namespace onednn;
using primitive_desc = dnnl::deconvolution_forward::primitive_desc;

// What the last window must lose for the output to have its size; output_padding makes it smaller.
std::int64_t end_padding(const window_axis& axis) {
  return (axis.input - 1) * axis.stride + axis.span() - axis.pad_begin - axis.output;
}

} // namespace

made_kernel make_onednn_conv_transpose(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = conv_geometry_of(spec, true);
  if (!conv)
    return tl::unexpected{conv.error()};
  if (!lies_channels_last(spec.inputs[0].desc) || !lies_channels_last(spec.outputs[0]))
    return decline("input or output is not channels-last");
  const auto source =
      dense({conv->batch, conv->channels, conv->y.input, conv->x.input}, format::nhwc);
  const auto destination =
      dense({conv->batch, conv->out_channels, conv->y.output, conv->x.output}, format::nhwc);
  const auto bias = conv->has_bias ? dense({conv->out_channels}, format::a) : memory_desc{};
  dnnl::memory::dims dims{conv->out_channels / conv->groups, conv->channels / conv->groups,
                          conv->y.kernel, conv->x.kernel};
  if (conv->groups > 1)
    dims.insert(dims.begin(), conv->groups);
  const auto plain = dense(dims, conv->groups > 1 ? format::giohw : format::iohw);
  const auto fused = fuse(spec, {}, destination, beside_channels);
  if (!fused)
    return tl::unexpected{fused.error()};

  const auto create = [&](const memory_desc& packed) {
    return attempt([&]() -> primitive_desc {
      const dnnl::deconvolution_forward::desc desc{dnnl::prop_kind::forward_inference,
                                                   dnnl::algorithm::deconvolution_direct,
                                                   source,
                                                   packed,
                                                   bias,
                                                   destination,
                                                   {conv->y.stride, conv->x.stride},
                                                   {conv->y.dilation - 1, conv->x.dilation - 1},
                                                   {conv->y.pad_begin, conv->x.pad_begin},
                                                   {end_padding(conv->y), end_padding(conv->x)}};
      return {desc, fused->attributes, cpu_engine()};
    });
  };
  const auto& constant = spec.inputs[1].constant;
  attempted<primitive_desc> chosen = decline("not tried");
  if (const auto pinned = pinned_layout(weights, constant.get(), plain))
    chosen = create(*pinned);
  if (!chosen || is_reference(chosen->impl_info_str()))
    chosen = create(dense(dims, format::any));
  if (!chosen)
    return tl::unexpected{chosen.error()};
  const std::string name = chosen->impl_info_str();
  if (is_reference(name))
    return decline("oneDNN only has {}", name);
  auto packed = pack(weights, constant, plain, chosen->weights_desc());
  if (!packed)
    return tl::unexpected{std::move(packed).error()};

  using from = binding::source;
  std::vector<binding> arguments{
      {DNNL_ARG_SRC, source, from::input, 0},
      {DNNL_ARG_WEIGHTS, chosen->weights_desc(), from::constant, 0, *std::move(packed)},
      {DNNL_ARG_DST, destination, from::output, 0},
      {DNNL_ARG_SCRATCHPAD, chosen->scratchpad_desc(), from::workspace, 0}};
  if (conv->has_bias)
    arguments.push_back({DNNL_ARG_BIAS, bias, from::input, 2});
  arguments.insert(arguments.end(), fused->operands.begin(), fused->operands.end());
  return make_primitive_kernel(name, dnnl::deconvolution_forward{*chosen}, std::move(arguments));
}

} // namespace troupe::cpu
