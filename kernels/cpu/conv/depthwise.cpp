#include "kernels/cpu/conv/depthwise.hpp"

#include "kernels/cpu/conv/kernels.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/placement.hpp"

namespace troupe::cpu {
namespace {

std::string unsuitable(const conv_geometry& conv) {
  if (conv.groups != conv.channels || conv.out_channels != conv.channels)
    return "not depthwise";
  const bool square = conv.y.kernel == conv.x.kernel && (conv.x.kernel == 3 || conv.x.kernel == 5);
  if (!square || conv.y.dilation != 1 || conv.x.dilation != 1 || conv.x.stride > 2)
    return "the window is not 3x3 or 5x5 with a stride of 1 or 2 along a row";
  if (conv.channels < depthwise::vector_lanes())
    return fmt::format("fewer than {} channels", depthwise::vector_lanes());
  return {};
}

} // namespace

made_kernel make_depthwise_conv(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = conv_geometry_of(spec, false);
  if (!conv)
    return tl::unexpected{conv.error()};
  if (auto reason = unsuitable(*conv); !reason.empty())
    return tl::unexpected{std::move(reason)};
  if (!lies_channels_last(spec.inputs[0].desc) || !lies_channels_last(spec.outputs[0]))
    return decline("input or output is not channels-last");
  const auto fused = fused_steps::make(spec);
  if (!fused)
    return tl::unexpected{fused.error()};
  const auto& constant = spec.inputs[1].constant;
  auto packed = weights.find_or_pack(
      constant, "depthwise", constant->data.size(), [&](std::span<std::byte> to) -> result<void> {
        const auto from = elements_of<float>(constant->data);
        auto* packed_to = reinterpret_cast<float*>(to.data());
        const auto taps = conv->y.kernel * conv->x.kernel;
        for (std::int64_t tap = 0; tap < taps; ++tap)
          for (std::int64_t c = 0; c < conv->channels; ++c)
            *packed_to++ = from[static_cast<std::size_t>(c * taps + tap)];
        return {};
      });
  if (!packed)
    return tl::unexpected{packed.error().text};
  return make_kernel({.name = "depthwise", .unread = 2},
                     [made = depthwise::convolution{*conv, *fused}, packed = *std::move(packed),
                      threads = spec.threads](const kernel_args& args) {
                       const depthwise::tensors with{
                           args.inputs[0].as<const float>(), elements_of<float>(packed).data(),
                           made.conv.has_bias ? args.inputs[2].as<const float>() : nullptr,
                           args.outputs[0].as<float>(), made.fused.operands(args)};
                       const auto& y = made.conv.y;
                       const auto cost = made.conv.x.output * made.conv.channels * y.kernel;
                       parallel_for(threads, made.conv.batch * y.output, cost,
                                    [&](std::int64_t begin, std::int64_t end) {
                                      depthwise::run_rows(made, with, begin, end);
                                    });
                     });
}

} // namespace troupe::cpu
