// A convolution of any window as a matrix product: the windows of some positions are laid out one
// after the other and multiplied with the filters while they are in the cache. For processors that
// oneDNN has no convolution for.

#include "kernels/cpu/conv/geometry.hpp"
#include "kernels/cpu/conv/kernels.hpp"
#include "kernels/cpu/matmul/packed_product.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/placement.hpp"

#include <algorithm>
#include <vector>

namespace troupe::cpu {
namespace {

using packed_product::product;
using packed_product::tensors;

struct windows {
  conv_geometry conv;
  product of_group; ///< of all rows that are laid out together

  [[nodiscard]] std::int64_t taps() const { return conv.y.kernel * conv.x.kernel; }
  [[nodiscard]] std::int64_t group_channels() const { return conv.channels / conv.groups; }
  [[nodiscard]] std::int64_t positions() const {
    return conv.batch * conv.y.output * conv.x.output;
  }
  /// Floats, as many as keep what lies behind them aligned.
  [[nodiscard]] std::int64_t laid_out() const {
    constexpr std::int64_t line = tensor_alignment / sizeof(float);
    return (of_group.rows * of_group.right.inner + line - 1) / line * line;
  }
  [[nodiscard]] std::int64_t workspace() const { return laid_out() + of_group.workspace(); }
};

// The taps of one position: of each all channels of the group.
void lay_out(const windows& of, const float* image, std::int64_t y, std::int64_t x, float* to) {
  const auto count = of.group_channels();
  const auto& rows = of.conv.y;
  const auto& columns = of.conv.x;
  for (std::int64_t i = 0; i < rows.kernel; ++i) {
    const auto line = y * rows.stride - rows.pad_begin + i * rows.dilation;
    for (std::int64_t j = 0; j < columns.kernel; ++j, to += count) {
      const auto column = x * columns.stride - columns.pad_begin + j * columns.dilation;
      if (line < 0 || line >= rows.input || column < 0 || column >= columns.input)
        std::fill_n(to, count, 0.0F);
      else
        std::copy_n(image + (line * columns.input + column) * of.conv.channels, count, to);
    }
  }
}

// Positions [first, first + count) of one group.
void multiply(const windows& of, const tensors& with, std::int64_t first, std::int64_t count,
              std::int64_t group, float* scratch) {
  const auto inner = of.of_group.right.inner;
  const auto image_floats = of.conv.y.input * of.conv.x.input * of.conv.channels;
  for (std::int64_t row = 0; row < count; ++row) {
    const auto at = first + row;
    const auto line = at / of.conv.x.output;
    lay_out(of, with.left + line / of.conv.y.output * image_floats + group * of.group_channels(),
            line % of.conv.y.output, at % of.conv.x.output, scratch + row * inner);
  }
  const auto columns = of.of_group.right.columns;
  const auto place = first * of.conv.out_channels + group * columns;
  tensors part{.left = scratch,
               .right = with.right + group * of.of_group.right.size(),
               .bias = with.bias != nullptr ? with.bias + group * columns : nullptr,
               .out = with.out + place,
               .operands = with.operands};
  for (auto& operand : part.operands)
    operand = operand != nullptr ? operand + place : nullptr;
  auto rows = of.of_group;
  rows.rows = count;
  run(rows, part, 0, 1, scratch + of.laid_out());
}

// Filters [out, in, taps] as, for each group, a matrix [taps * in, out].
void pack_filters(const windows& of, std::span<const float> from, float* to) {
  const auto& right = of.of_group.right;
  const auto channels = of.group_channels();
  std::vector<float> turned(static_cast<std::size_t>(right.inner * right.columns));
  for (std::int64_t group = 0; group < of.conv.groups; ++group, to += right.size()) {
    for (std::int64_t n = 0; n < right.columns; ++n)
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t tap = 0; tap < of.taps(); ++tap)
          turned[static_cast<std::size_t>((tap * channels + c) * right.columns + n)] =
              from[static_cast<std::size_t>(((group * right.columns + n) * channels + c) * of.taps()
                                            + tap)];
    pack(right, {turned.data(), right.columns, 1}, to);
  }
}

} // namespace

made_kernel make_windowed_conv(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = conv_geometry_of(spec, false);
  if (!conv)
    return tl::unexpected{conv.error()};
  if (conv->groups > 1 && conv->out_channels / conv->groups < packed_product::vector_lanes())
    return decline("groups of {} filters fill no vector", conv->out_channels / conv->groups);
  if (!lies_channels_last(spec.inputs[0].desc) || !lies_channels_last(spec.outputs[0]))
    return decline("input or output is not channels-last");
  const auto fused = fused_steps::make(spec);
  if (!fused)
    return tl::unexpected{fused.error()};
  windows made{*conv, {}};
  const auto inner = made.taps() * made.group_channels();
  made.of_group = {.right = packed_product::plan_packing(inner, conv->out_channels / conv->groups),
                   .fused = *fused,
                   .rows = packed_product::group_rows_for(inner),
                   .left_stride = inner,
                   .out_stride = conv->out_channels};
  const auto& constant = spec.inputs[1].constant;
  const auto floats = made.of_group.right.size() * conv->groups;
  auto packed = weights.find_or_pack(constant, fmt::format("windows:{}", made.of_group.right.lanes),
                                     static_cast<std::size_t>(floats) * sizeof(float),
                                     [&](std::span<std::byte> to) -> result<void> {
                                       pack_filters(made, elements_of<float>(constant->data),
                                                    reinterpret_cast<float*>(to.data()));
                                       return {};
                                     });
  if (!packed)
    return tl::unexpected{packed.error().text};
  const std::int64_t members = spec.threads;
  kernel_facts facts{.name = "packed:windows",
                     .workspace_bytes =
                         static_cast<std::size_t>(members * made.workspace()) * sizeof(float),
                     .unread = 2};
  return make_kernel(std::move(facts), [made = std::move(made), packed = *std::move(packed),
                                        members](const kernel_args& args) {
    const tensors with{.left = args.inputs[0].as<const float>(),
                       .right = elements_of<float>(packed).data(),
                       .bias = made.conv.has_bias ? args.inputs[2].as<const float>() : nullptr,
                       .out = args.outputs[0].as<float>(),
                       .operands = made.of_group.fused.operands(args)};
    auto* scratch = reinterpret_cast<float*>(args.workspace.data());
    const auto positions = made.positions();
    const auto cost = positions * made.of_group.right.inner * made.conv.out_channels / members / 16;
    parallel_for(static_cast<int>(members), members, cost, [&](auto begin, auto end) {
      for (auto member = begin; member < end; ++member) {
        const auto last = positions * (member + 1) / members;
        for (auto first = positions * member / members; first < last; first += made.of_group.rows)
          for (std::int64_t group = 0; group < made.conv.groups; ++group)
            multiply(made, with, first, std::min(made.of_group.rows, last - first), group,
                     scratch + member * made.workspace());
      }
    });
  });
}

} // namespace troupe::cpu
