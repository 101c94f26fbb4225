// Convolutions of 8-bit integers: sums in INT32, or scaled to 8 bits again. Padding is the input's
// zero point. ONNX: ConvInteger-10, QLinearConv-10.

#include "kernels/cpu/integer_conv/qlinear_conv.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/quantize/quantize.hpp"
#include "kernels/cpu/quantized_kernels.hpp"
#include "kernels/cpu/spatial.hpp"
#include "kernels/op/byte_bounds.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::int64_t tile = 256;

struct integer_conv {
  spatial input;
  spatial weights;
  spatial output;
  spatial_window moves;
  std::int64_t groups = 1;
  std::size_t x = 0, w = 1, x_zero = 2, w_zero = 3; ///< inputs
  bool zero_per_channel = false;

  [[nodiscard]] std::int64_t rows() const noexcept {
    return output.images * output.channels * output.sizes[0] * output.sizes[1];
  }
};

// One row of the output's last axis: which it is, and where it begins.
struct output_row {
  std::int64_t image, channel;
  spatial_index place;
};

output_row row_at(const integer_conv& conv, std::int64_t index) {
  output_row row{};
  row.place[1] = index % conv.output.sizes[1];
  index /= conv.output.sizes[1];
  row.place[0] = index % conv.output.sizes[0];
  index /= conv.output.sizes[0];
  row.channel = index % conv.output.channels;
  row.image = index / conv.output.channels;
  return row;
}

// sums[j] += factor * (x[j * stride] - x_zero) for the `j` in [first, last).
template <class X>
void add_tap(const X* x, std::int64_t stride, std::int16_t factor, std::int32_t x_zero,
             std::int64_t first, std::int64_t last, std::int32_t* sums) {
  for (auto j = first; j < last; ++j)
    sums[j] += factor * static_cast<std::int16_t>(x[j * stride] - x_zero);
}

template <class X, class W>
void sum_row(const integer_conv& conv, const kernel_args& args, const output_row& row,
             std::int64_t begin, std::int64_t width, std::int32_t* sums) {
  const auto x_zero = has_data(args, conv.x_zero) ? integer_at(args.inputs[conv.x_zero], 0) : 0;
  const auto w_zero =
      has_data(args, conv.w_zero)
          ? integer_at(args.inputs[conv.w_zero], conv.zero_per_channel ? row.channel : 0)
          : 0;
  const auto* x = args.inputs[conv.x].as<const X>();
  const auto* w = args.inputs[conv.w].as<const W>();
  const auto first_channel =
      row.channel / (conv.output.channels / conv.groups) * conv.weights.channels;
  const auto stride = conv.moves.strides[2];
  std::fill_n(sums, width, 0);
  for_each_place(conv.moves.kernel, [&](const spatial_index& tap) {
    spatial_index from;
    for (std::size_t axis = 0; axis < 3; ++axis)
      from[axis] = row.place[axis] * conv.moves.strides[axis] - conv.moves.pads[axis]
                   + tap[axis] * conv.moves.dilations[axis];
    for (std::size_t axis = 0; axis < 2; ++axis)
      if (from[axis] < 0 || from[axis] >= conv.input.sizes[axis])
        return;
    // Position j reads from[2] + (begin + j) * stride, which has to lie in the input.
    from[2] += begin * stride;
    const auto left = from[2] < 0 ? (-from[2] + stride - 1) / stride : 0;
    const auto inside = conv.input.sizes[2] - from[2];
    const auto right = inside <= 0 ? 0 : std::min(width, (inside + stride - 1) / stride);
    for (std::int64_t c = 0; c < conv.weights.channels; ++c) {
      const auto factor =
          static_cast<std::int16_t>(w[conv.weights.offset(row.channel, c, tap)] - w_zero);
      const auto* row_of_x =
          x + conv.input.offset(row.image, first_channel + c, {from[0], from[1], 0});
      const auto apart = conv.input.strides[2];
      if (left < right)
        add_tap(row_of_x + from[2] * apart, stride * apart, factor, x_zero, left, right, sums);
    }
  });
}

template <class Store>
void for_each_row_tile(const integer_conv& conv, const kernel_args& args, int threads,
                       const Store& store) {
  const auto cost = conv.output.sizes[2] * conv.weights.channels * conv.moves.kernel[0]
                    * conv.moves.kernel[1] * conv.moves.kernel[2];
  parallel_for(threads, conv.rows(), cost / 4, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::int32_t, tile> sums;
    for (auto index = begin; index < end; ++index) {
      const auto row = row_at(conv, index);
      for (std::int64_t at = 0; at < conv.output.sizes[2]; at += tile) {
        const auto width = std::min(tile, conv.output.sizes[2] - at);
        visit_byte(args.inputs[conv.x].desc.type, [&](auto x_tag) {
          visit_byte(args.inputs[conv.w].desc.type, [&](auto w_tag) {
            sum_row<typename decltype(x_tag)::type, typename decltype(w_tag)::type>(
                conv, args, row, at, width, sums.data());
          });
        });
        const auto to =
            conv.output.offset(row.image, row.channel, {row.place[0], row.place[1], at});
        store(row, to, std::span<const std::int32_t>{sums.data(), static_cast<std::size_t>(width)});
      }
    }
  });
}

using read_conv = tl::expected<integer_conv, std::string>;

read_conv integer_conv_of(const kernel_spec& spec, std::size_t x, std::size_t w, std::size_t x_zero,
                          std::size_t w_zero) {
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  for (const auto input : {x, w})
    if (!visit_byte(spec.inputs[input].desc.type, [](auto) {}))
      return decline("input {} is {}, not INT8 or UINT8", input,
                     to_string(spec.inputs[input].desc.type));
  const auto& data = spec.inputs[x].desc;
  const auto& weights = spec.inputs[w].desc;
  if (weights.dims.size() != data.dims.size() || weights.dims.size() < 3)
    return decline("weights {} do not match input {}", to_string(weights.dims),
                   to_string(data.dims));
  const auto moves = sliding_window(*spec.attributes, data.dims,
                                    {weights.dims.data() + 2, weights.dims.size() - 2});
  if (!moves)
    return decline("{}", moves.error().text);
  if (moves->size() > 3)
    return decline("{} spatial axes: at most 3 are supported", moves->size());
  integer_conv made{spatial_of(data),
                    spatial_of(weights),
                    spatial_of(spec.outputs[0]),
                    spatial_window_of(*moves),
                    spec.attributes->integer("group", 1),
                    x,
                    w,
                    x_zero,
                    w_zero};
  if (made.groups < 1 || made.weights.channels * made.groups != made.input.channels
      || made.output.channels % made.groups != 0)
    return decline("{} groups of {} channels do not make the input's {}", made.groups,
                   made.weights.channels, made.input.channels);
  if (has_input(spec, x_zero) && spec.inputs[x_zero].desc.elements() != 1)
    return decline("zero point {} of the input is not one number",
                   to_string(spec.inputs[x_zero].desc.dims));
  if (has_input(spec, w_zero)) {
    const auto count = spec.inputs[w_zero].desc.elements();
    if (count != 1 && count != made.output.channels)
      return decline("{} zero points for {} channels", count, made.output.channels);
    made.zero_per_channel = count != 1;
  }
  return made;
}

} // namespace

made_kernel make_reference_conv_integer(const kernel_spec& spec, weight_cache&) {
  auto conv = integer_conv_of(spec, 0, 1, 2, 3);
  if (!conv)
    return tl::unexpected{std::move(conv).error()};
  return make_kernel({}, [conv = *conv, threads = spec.threads](const kernel_args& args) {
    auto* y = args.outputs[0].as<std::int32_t>();
    for_each_row_tile(conv, args, threads,
                      [&](const output_row&, std::int64_t at, std::span<const std::int32_t> sums) {
                        for (std::size_t j = 0; j < sums.size(); ++j)
                          y[at + static_cast<std::int64_t>(j) * conv.output.strides[2]] = sums[j];
                      });
  });
}

made_kernel make_reference_qlinear_conv(const kernel_spec& spec, weight_cache&) {
  using namespace qlinear_conv;
  auto conv = integer_conv_of(spec, x, w, x_zero, w_zero);
  if (!conv)
    return tl::unexpected{std::move(conv).error()};
  const auto scales = spec.inputs[w_scale].desc.elements();
  for (const auto scale : {x_scale, w_scale, y_scale})
    if (spec.inputs[scale].desc.type != dtype::float32)
      return decline("scale of {}, FP32 expected", to_string(spec.inputs[scale].desc.type));
  if (spec.inputs[x_scale].desc.elements() != 1 || spec.inputs[y_scale].desc.elements() != 1
      || (has_input(spec, y_zero) && spec.inputs[y_zero].desc.elements() != 1)
      || (scales != 1 && scales != conv->output.channels))
    return decline("{} scales of weights for {} channels, or several of input or output", scales,
                   conv->output.channels);
  if (has_input(spec, bias)
      && (spec.inputs[bias].desc.type != dtype::int32
          || spec.inputs[bias].desc.elements() != conv->output.channels))
    return decline("bias {} {}", to_string(spec.inputs[bias].desc.type),
                   to_string(spec.inputs[bias].desc.dims));
  made_kernel made = decline("result of {}", to_string(spec.outputs[0].type));
  visit_byte(spec.outputs[0].type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    made = make_kernel({}, [conv = *conv, per_channel = scales != 1,
                            within = byte_bounds::of(*spec.attributes, spec.outputs[0].type),
                            threads = spec.threads](const kernel_args& args) {
      auto* y = args.outputs[0].as<element>();
      const auto* by = args.inputs[w_scale].as<const float>();
      const auto from = *args.inputs[x_scale].as<const float>();
      const auto to = *args.inputs[y_scale].as<const float>();
      const auto zero = integer_at(args.inputs[y_zero], 0);
      const auto low = static_cast<float>(within.lowest - zero);
      const auto high = static_cast<float>(within.highest - zero);
      for_each_row_tile(
          conv, args, threads,
          [&](const output_row& row, std::int64_t at, std::span<const std::int32_t> sums) {
            const auto scale = from * by[per_channel ? row.channel : 0] / to;
            const auto addend =
                has_data(args, bias) ? integer_at(args.inputs[bias], row.channel) : 0;
            for (std::size_t j = 0; j < sums.size(); ++j)
              y[at + static_cast<std::int64_t>(j) * conv.output.strides[2]] =
                  static_cast<element>(static_cast<std::int32_t>(rounded_between(
                                           static_cast<float>(sums[j] + addend) * scale, low, high))
                                       + zero);
          });
    });
  });
  return made;
}

made_kernel make_reference_qlinear_gemm(const kernel_spec& spec, weight_cache& weights) {
  return qlinear_conv::with_positions(
      spec, [&](const kernel_spec& wide) { return make_reference_qlinear_conv(wide, weights); });
}

} // namespace troupe::cpu
