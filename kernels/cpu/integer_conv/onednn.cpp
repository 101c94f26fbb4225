// QLinearConv with constant weights of INT8 as oneDNN's integer convolution, on processors with
// VNNI. Without it oneDNN adds products of two pairs in 16 bits that saturate.

#include "kernels/cpu/conv/onednn_conv.hpp"
#include "kernels/cpu/integer_conv/qlinear_conv.hpp"
#include "kernels/cpu/quantize/scaled_bytes.hpp"
#include "kernels/cpu/quantized_kernels.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

using namespace onednn;
using namespace qlinear_conv;
using data_type = dnnl::memory::data_type;

struct numbers {
  bytes::meaning input;
  bytes::meaning output;
  std::vector<float> scales; ///< from sums to results, one or one for each channel
};

tl::expected<numbers, std::string> numbers_of(const kernel_spec& spec, const conv_geometry& conv) {
  const auto input = scaled_bytes_at(spec, spec.inputs[x].desc.type, x_scale, x_zero);
  const auto output = scaled_bytes_at(spec, spec.outputs[0].type, y_scale, y_zero);
  if (!input || !output)
    return tl::unexpected{input ? output.error() : input.error()};
  const auto& scale = spec.inputs[w_scale].constant;
  const auto& zero = spec.inputs[w_zero].constant;
  if (!scale || scale->type != dtype::float32 || !zero || zero->type != dtype::int8
      || std::ranges::any_of(elements_of<std::int8_t>(zero->data),
                             [](std::int8_t number) { return number != 0; }))
    return decline("scales of the weights that are not constant, or zero points that are not 0");
  numbers made{*input, *output, {}};
  for (const auto by : elements_of<float>(scale->data))
    made.scales.push_back(input->scale * by / output->scale);
  if (made.scales.size() != 1 && std::ssize(made.scales) != conv.out_channels)
    return decline("{} scales for {} channels", made.scales.size(), conv.out_channels);
  return made;
}

dnnl::primitive_attr attributes_of(const numbers& of, const byte_bounds& within,
                                   const byte_bounds& of_type) {
  dnnl::primitive_attr made;
  made.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr int per_channel = 1 << 1;
  made.set_output_scales(of.scales.size() > 1 ? per_channel : 0, of.scales);
  if (of.input.zero_point != 0)
    made.set_zero_points(DNNL_ARG_SRC, 0, {of.input.zero_point});
  if (of.output.zero_point != 0)
    made.set_zero_points(DNNL_ARG_DST, 0, {of.output.zero_point});
  if (within == of_type)
    return made;
  dnnl::post_ops steps; // in front of the zero point
  steps.append_eltwise(1.0F, dnnl::algorithm::eltwise_clip,
                       static_cast<float>(within.lowest - of.output.zero_point),
                       static_cast<float>(within.highest - of.output.zero_point));
  made.set_post_ops(steps);
  return made;
}

data_type type_of(dtype type) {
  return type == dtype::int8 ? data_type::s8 : data_type::u8;
}

made_kernel make(const kernel_spec& spec, weight_cache& weights, bool gemm_too) {
  if (!multiplies_bytes_fast())
    return decline("no VNNI");
  const auto& weight = spec.inputs[w];
  if (weight.desc.type != dtype::int8)
    return decline("weights of {}, INT8 expected", to_string(weight.desc.type));
  auto conv = conv_geometry_of(spec, weight, false);
  if (!conv)
    return tl::unexpected{conv.error()};
  const auto& input = spec.inputs[x].desc;
  const auto& output = spec.outputs[0];
  if (!lies_channels_last(input) || !lies_channels_last(output))
    return decline("input or output is not channels-last");
  const auto by = numbers_of(spec, *conv);
  if (!by)
    return tl::unexpected{by.error()};
  conv->has_bias = has_input(spec, bias);
  if (conv->has_bias && spec.inputs[bias].desc.type != dtype::int32)
    return decline("bias of {}", to_string(spec.inputs[bias].desc.type));
  const auto memory =
      describe_conv(*conv, format::nhwc,
                    {type_of(input.type), data_type::s8, data_type::s32, type_of(output.type)});
  const auto attributes = attributes_of(*by, byte_bounds::of(*spec.attributes, output.type),
                                        byte_bounds::of_type(output.type));
  const auto is_fast = [&](const attempted<dnnl::convolution_forward::primitive_desc>& made) {
    return made && !is_reference(made->impl_info_str())
           && (gemm_too || !is_gemm(made->impl_info_str()));
  };
  attempted<dnnl::convolution_forward::primitive_desc> chosen = decline("not tried");
  if (const auto pinned = pinned_layout(weights, weight.constant.get(), memory.weights)) {
    auto as_pinned = memory;
    as_pinned.weights = *pinned;
    chosen = attempt([&] { return create_conv(*conv, as_pinned, attributes); });
  }
  if (!is_fast(chosen))
    chosen = attempt([&] { return create_conv(*conv, memory, attributes); });
  if (!chosen)
    return tl::unexpected{chosen.error()};
  const std::string name = chosen->impl_info_str();
  if (!is_fast(chosen))
    return decline("oneDNN only has {}", name);
  auto packed = pack(weights, weight.constant, memory.plain, chosen->weights_desc());
  if (!packed)
    return tl::unexpected{std::move(packed).error()};
  using from = binding::source;
  std::vector<binding> arguments{
      {DNNL_ARG_SRC, memory.source, from::input, x},
      {DNNL_ARG_WEIGHTS, chosen->weights_desc(), from::constant, 0, *std::move(packed)},
      {DNNL_ARG_DST, memory.destination, from::output, 0},
      {DNNL_ARG_SCRATCHPAD, chosen->scratchpad_desc(), from::workspace, 0}};
  if (conv->has_bias)
    arguments.push_back({DNNL_ARG_BIAS, memory.bias, from::input, bias});
  return make_primitive_kernel(name, dnnl::convolution_forward{*chosen}, std::move(arguments));
}

} // namespace

made_kernel make_onednn_qlinear_conv(const kernel_spec& spec, weight_cache& weights) {
  return make(spec, weights, false);
}

made_kernel make_onednn_qlinear_conv_by_gemm(const kernel_spec& spec, weight_cache& weights) {
  return make(spec, weights, true);
}

made_kernel make_onednn_qlinear_gemm(const kernel_spec& spec, weight_cache& weights) {
  return with_positions(spec, [&](const kernel_spec& wide) { return make(wide, weights, true); });
}

} // namespace troupe::cpu
