#include "kernels/cpu/conv/winograd.hpp"

#include "kernels/cpu/conv/kernels.hpp"
#include "kernels/cpu/parallel.hpp"

#include <array>

namespace troupe::cpu {
namespace {

using namespace winograd;

// Below this the filters, four times as large once transformed, cost more to read than the direct
// sum costs to compute: tiles, and tiles where the filters leave the cache.
constexpr std::int64_t fewest_tiles = 9;
constexpr std::int64_t fewest_tiles_beyond_cache = 24;
constexpr std::int64_t most_filters_in_cache = 256 * 256; // pairs of channels
constexpr std::int64_t most_filters = 512 * 512;
constexpr std::int64_t fewest_channels = 16; // a whole vector on every machine

constexpr std::size_t widest_panel = 32; // two of the longest vectors
using lane_values = std::array<double, widest_panel>;

// The filter transform of one axis: three taps to six points, for all columns of a panel.
void filter_points(const lane_values* taps, std::size_t tap_step, lane_values* points,
                   std::size_t point_step, std::size_t width) {
  const double a = std::numbers::sqrt2;
  const double b = 0.5 * std::numbers::sqrt2;
  for (std::size_t i = 0; i < width; ++i) {
    const double g0 = taps[0][i];
    const double g1 = taps[tap_step][i];
    const double g2 = taps[2 * tap_step][i];
    points[0][i] = g0;
    points[point_step][i] = (g0 + 2.0 * g2 + a * g1) / 6.0;
    points[2 * point_step][i] = (g0 + 2.0 * g2 - a * g1) / 6.0;
    points[3 * point_step][i] = (g0 + 0.5 * g2 + b * g1) / -1.5;
    points[4 * point_step][i] = (g0 + 0.5 * g2 - b * g1) / -1.5;
    points[5 * point_step][i] = g2;
  }
}

// From [out_channels, channels, 3, 3] to 36 matrices [channels, out_channels] in panels.
void transform_filters(const convolution& of, const float* from, float* to) {
  const auto channels = of.conv.channels;
  const auto matrix = channels * of.panels.padded;
  std::array<lane_values, 9> taps{};
  std::array<lane_values, 3 * reach> rows{};
  std::array<lane_values, products> points{};
  std::int64_t first = 0;
  for (const auto panel : of.panels.widths) {
    const auto width = static_cast<std::size_t>(panel);
    const auto filters = std::min(panel, of.conv.out_channels - first); // the rest stays zero
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t i = 0; i < filters; ++i)
        for (std::size_t tap = 0; tap < 9; ++tap)
          taps[tap][static_cast<std::size_t>(i)] =
              from[((first + i) * channels + c) * 9 + static_cast<std::int64_t>(tap)];
      for (std::size_t y = 0; y < 3; ++y)
        filter_points(&taps[3 * y], 1, &rows[y * reach], 1, width);
      for (std::size_t x = 0; x < reach; ++x)
        filter_points(&rows[x], reach, &points[x], reach, width);
      auto* column = to + first * channels + c * panel;
      for (std::size_t p = 0; p < products; ++p, column += matrix)
        for (std::size_t i = 0; i < width; ++i)
          column[i] = static_cast<float>(points[p][i]);
    }
    taps = {};
    first += panel;
  }
}

std::string unsuitable(const conv_geometry& conv) {
  const auto fits = [](const window_axis& axis) {
    return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  if (conv.groups != 1 || !fits(conv.y) || !fits(conv.x))
    return "the window is not 3x3 of stride 1 in one group";
  if (conv.channels < fewest_channels || conv.out_channels < fewest_channels)
    return fmt::format("fewer than {} channels", fewest_channels);
  if (conv.channels * conv.out_channels > most_filters)
    return "the transformed filters would not stay in the cache";
  return {};
}

convolution plan(const conv_geometry& conv, const fused_steps& fused) {
  convolution made;
  made.conv = conv;
  made.panels = {conv.out_channels, vector_lanes()};
  made.fused = fused;
  made.tiles_y = (conv.y.output + tile - 1) / tile;
  made.tiles_x = (conv.x.output + tile - 1) / tile;
  // A block's matrices stay in the second-level cache, unless reading the filters once more for the
  // next block would cost more than that saves.
  const auto per_tile = products * (conv.channels + made.panels.padded);
  const auto filters = products * conv.channels * made.panels.padded;
  const auto room = std::max<std::int64_t>(128 * 1024, filters / 2);
  made.block = std::clamp<std::int64_t>(room / per_tile / 12 * 12, 12, 48);
  // Matrices a multiple of 4 KiB apart would share their places in the first-level cache.
  constexpr std::int64_t stagger = 16;
  const auto most = std::min(made.block + most_left_over, made.tiles());
  made.in_stride = (most * conv.channels + stagger - 1) / stagger * stagger + stagger;
  made.out_stride = (most * made.panels.padded + stagger - 1) / stagger * stagger + stagger;
  made.column_stride = (conv.channels + stagger - 1) / stagger * stagger + stagger;
  made.no_pixel.assign(static_cast<std::size_t>(conv.channels), 0.0F);
  return made;
}

// Filters that leave the cache take long to transform, longer than a plan for a new batch may: the
// first plan decides for all that follow, unless the choice was measured for this shape.
std::string better_direct(const kernel_spec& spec, const convolution& made,
                          const weight_cache& weights, std::string_view form) {
  const bool in_cache = made.conv.channels * made.conv.out_channels <= most_filters_in_cache;
  if (!in_cache && spec.prefer.empty())
    if (const auto pinned = weights.pinned_form(spec.inputs[1].constant.get()))
      return *pinned == form ? "" : "the filters are packed for the direct sum already";
  if (made.tiles() < (in_cache ? fewest_tiles : fewest_tiles_beyond_cache))
    return fmt::format("only {} tiles of 4x4 outputs", made.tiles());
  return {};
}

} // namespace

made_kernel make_winograd_conv(const kernel_spec& spec, weight_cache& weights) {
  const auto conv = conv_geometry_of(spec, false);
  if (!conv)
    return tl::unexpected{conv.error()};
  if (auto reason = unsuitable(*conv); !reason.empty())
    return tl::unexpected{std::move(reason)};
  if (spec.inputs[0].desc.format != layout::channels_last
      || spec.outputs[0].format != layout::channels_last)
    return decline("input or output is not channels-last");
  const auto fused = fused_steps::make(spec);
  if (!fused)
    return tl::unexpected{fused.error()};
  auto made = plan(*conv, *fused);
  const auto form = fmt::format("winograd4x3:{}", vector_lanes());
  if (auto reason = better_direct(spec, made, weights, form); !reason.empty())
    return tl::unexpected{std::move(reason)};
  const auto bytes =
      static_cast<std::size_t>(products * conv->channels * made.panels.padded) * sizeof(float);
  auto packed = weights.find_or_pack(
      spec.inputs[1].constant, form, bytes, [&](std::span<std::byte> to) -> result<void> {
        transform_filters(made, elements_of<float>(spec.inputs[1].constant->data).data(),
                          reinterpret_cast<float*>(to.data()));
        return {};
      });
  if (!packed)
    return tl::unexpected{packed.error().text};
  const std::int64_t members = spec.threads;
  const kernel_facts facts{.name = "winograd:4x4",
                           .workspace_bytes =
                               static_cast<std::size_t>(members * made.workspace()) * sizeof(float),
                           .unread = 2};
  return make_kernel(facts, [made = std::move(made), packed = *std::move(packed),
                             members](const kernel_args& args) {
    tensors with{.input = args.inputs[0].as<const float>(),
                 .weights = elements_of<float>(packed).data(),
                 .bias = made.conv.has_bias ? args.inputs[2].as<const float>() : nullptr,
                 .output = args.outputs[0].as<float>(),
                 .operands = made.fused.operands(args)};
    auto* scratch = reinterpret_cast<float*>(args.workspace.data());
    const auto count = made.tiles();
    parallel_for(static_cast<int>(members), members, count * made.conv.channels * products,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto member = begin; member < end; ++member)
                     run_tiles(made, with, count * member / members, count * (member + 1) / members,
                               scratch + member * made.workspace());
                 });
  });
}

} // namespace troupe::cpu
