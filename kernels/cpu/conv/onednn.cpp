// Convolutions as oneDNN's own primitives. Activations are channels-last, where its kernels are as
// fast as in blocked layouts (docs/decisions/0004-activation-layout.md).

#include "kernels/cpu/onednn.hpp"
#include "kernels/cpu/conv/onednn_conv.hpp"
#include "kernels/cpu/onednn_kernels.hpp"

namespace troupe::cpu {
namespace {

using namespace onednn;
using primitive_desc = dnnl::convolution_forward::primitive_desc;

// Why an implementation is of no use; empty for one that is.
std::string unusable(std::string_view name, bool gemm_too) {
  if (name == "jit_dw:sve_512") // of oneDNN 2.6, seen with a direction classifier
    return fmt::format("{} answers wrongly", name);
  if (is_reference(name) || (is_gemm(name) && !gemm_too))
    return fmt::format("oneDNN only has {}", name);
  return {};
}

made_kernel make_conv(const kernel_spec& spec, weight_cache& weights, const conv_geometry& conv,
                      format activations, bool gemm_too) {
  auto memory = describe_conv(conv, activations);
  const auto fused = fuse(spec, {}, memory.destination, beside_channels);
  if (!fused)
    return tl::unexpected{fused.error()};
  const auto& constant = spec.inputs[1].constant;
  attempted<primitive_desc> chosen = decline("not tried");
  if (const auto pinned = pinned_layout(weights, constant.get(), memory.weights)) {
    auto as_pinned = memory;
    as_pinned.weights = *pinned;
    chosen = attempt([&] { return create_conv(conv, as_pinned, fused->attributes); });
  }
  if (!chosen || !unusable(chosen->impl_info_str(), gemm_too).empty())
    chosen = attempt([&] { return create_conv(conv, memory, fused->attributes); });
  if (!chosen)
    return tl::unexpected{chosen.error()};
  const std::string name = chosen->impl_info_str();
  if (auto reason = unusable(name, gemm_too); !reason.empty())
    return tl::unexpected{std::move(reason)};
  // oneDNN 2.6 reads a residual at wrong places here (row-major gemm, seen with SSE4.1).
  if (is_gemm(name) && !fused->operands.empty())
    return decline("{} does not add operands of post-ops correctly", name);
  auto packed = pack(weights, constant, memory.plain, chosen->weights_desc());
  if (!packed)
    return tl::unexpected{std::move(packed).error()};

  using from = binding::source;
  std::vector<binding> arguments{
      {DNNL_ARG_SRC, memory.source, from::input, 0},
      {DNNL_ARG_WEIGHTS, chosen->weights_desc(), from::constant, 0, *std::move(packed)},
      {DNNL_ARG_DST, memory.destination, from::output, 0},
      {DNNL_ARG_SCRATCHPAD, chosen->scratchpad_desc(), from::workspace, 0}};
  if (conv.has_bias)
    arguments.push_back({DNNL_ARG_BIAS, memory.bias, from::input, 2});
  arguments.insert(arguments.end(), fused->operands.begin(), fused->operands.end());
  return make_primitive_kernel(name, dnnl::convolution_forward{*chosen}, std::move(arguments));
}

} // namespace

made_kernel make_onednn_conv(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = conv_geometry_of(spec, false);
  if (!conv)
    return tl::unexpected{conv.error()};
  if (!lies_channels_last(spec.inputs[0].desc) || !lies_channels_last(spec.outputs[0]))
    return decline("input or output is not channels-last");
  return make_conv(spec, weights, *conv, format::nhwc, false);
}

made_kernel make_onednn_conv_by_gemm(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = conv_geometry_of(spec, false);
  if (!conv)
    return tl::unexpected{conv.error()};
  const auto& input = spec.inputs[0].desc;
  const auto& output = spec.outputs[0];
  if (lies_channels_last(input) && lies_channels_last(output))
    return make_conv(spec, weights, *conv, format::nhwc, true);
  if (lies_row_major(input) && lies_row_major(output))
    return make_conv(spec, weights, *conv, format::nchw, true);
  return decline("input and output differ in layout");
}

} // namespace troupe::cpu
