#include "kernels/cpu/conv/depthwise.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/depthwise_highway.cpp"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV) // sizeless
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/cpu/fused_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using namespace depthwise;
using tag = hn::ScalableTag<float>;
using vector = hn::Vec<tag>;

constexpr int positions = 6; ///< outputs computed together

// One output row and the window rows that lie within the image.
struct row {
  const convolution& of;
  const tensors& with;
  std::int64_t image, y;
  std::int64_t first_tap, last_tap; ///< of the window's rows: [first, last)

  [[nodiscard]] const float* input(std::int64_t tap, std::int64_t x) const {
    const auto& conv = of.conv;
    const auto in_y = y * conv.y.stride - conv.y.pad_begin + tap;
    return with.input + ((image * conv.y.input + in_y) * conv.x.input + x) * conv.channels;
  }
  [[nodiscard]] std::int64_t output(std::int64_t x) const {
    const auto& conv = of.conv;
    return ((image * conv.y.output + y) * conv.x.output + x) * conv.channels;
  }
};

HWY_INLINE vector bias_of(const row& at, std::int64_t c) {
  const tag d;
  return at.with.bias != nullptr ? hn::LoadU(d, at.with.bias + c) : hn::Zero(d);
}

// Writes neighbouring outputs.
template <int Count>
HWY_INLINE void store(const row& at, std::int64_t x, std::int64_t c, vector (&values)[Count]) {
  const tag d;
  const auto channels = at.of.conv.channels;
  const auto to = at.output(x) + c;
  apply_steps(d, at.of.fused, at.with.operands, to, channels, values);
  HWY_UNROLL(8)
  for (int i = 0; i < Count; ++i)
    hn::StoreU(values[i], d, at.with.output + to + i * channels);
}

// One output whose window may leave the image on either side.
template <int Kernel>
HWY_INLINE void one_position(const row& at, std::int64_t x, std::int64_t c) {
  const tag d;
  const auto& conv = at.of.conv;
  const auto left = x * conv.x.stride - conv.x.pad_begin;
  const auto first = std::max<std::int64_t>(0, -left);
  const auto last = std::min<std::int64_t>(Kernel, conv.x.input - left);
  vector sum[1] = {bias_of(at, c)};
  for (auto ky = at.first_tap; ky < at.last_tap; ++ky)
    for (auto kx = first; kx < last; ++kx)
      sum[0] = hn::MulAdd(hn::LoadU(d, at.input(ky, left + kx) + c),
                          hn::LoadU(d, at.with.weights + (ky * Kernel + kx) * conv.channels + c),
                          sum[0]);
  store(at, x, c, sum);
}

// `positions` neighbouring outputs whose windows lie within the image.
template <int Kernel, int Stride>
HWY_INLINE void many_positions(const row& at, std::int64_t x, std::int64_t c) {
  const tag d;
  const auto channels = at.of.conv.channels;
  const auto left = x * Stride - at.of.conv.x.pad_begin;
  vector sums[positions];
  HWY_UNROLL(8)
  for (int i = 0; i < positions; ++i)
    sums[i] = bias_of(at, c);
  for (auto ky = at.first_tap; ky < at.last_tap; ++ky) {
    const float* weight = at.with.weights + ky * Kernel * channels + c;
    const float* input = at.input(ky, left) + c;
    const bool fetch = ky + 1 == at.last_tap;
    constexpr int ahead = positions * Stride;
    vector taps[Kernel];
    HWY_UNROLL(5)
    for (int kx = 0; kx < Kernel; ++kx)
      taps[kx] = hn::LoadU(d, weight + kx * channels);
    HWY_UNROLL(20)
    for (int in = 0; in < (positions - 1) * Stride + Kernel; ++in) {
      const auto value = hn::LoadU(d, input + in * channels);
      if (in >= Kernel - Stride && fetch)
        hwy::Prefetch(input + (in + ahead) * channels);
      HWY_UNROLL(8)
      for (int i = 0; i < positions; ++i)
        if (in - i * Stride >= 0 && in - i * Stride < Kernel)
          sums[i] = hn::MulAdd(value, taps[in - i * Stride], sums[i]);
    }
  }
  store(at, x, c, sums);
}

// Vectors over channels; the last one overlaps its neighbour, which writes the same values twice.
template <class Step>
HWY_INLINE void for_each_vector(std::int64_t channels, const Step& step) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag{}));
  std::int64_t c = 0;
  for (; c + lanes <= channels; c += lanes)
    step(c);
  if (c < channels)
    step(channels - lanes);
}

template <int Kernel, int Stride>
void one_row(const row& at) {
  const auto& conv = at.of.conv;
  // Outputs [inner, outer) have their whole window within the row.
  const auto inner = std::min((conv.x.pad_begin + Stride - 1) / Stride, conv.x.output);
  const auto room = conv.x.input + conv.x.pad_begin - Kernel;
  const auto outer =
      std::clamp<std::int64_t>(room < 0 ? 0 : room / Stride + 1, inner, conv.x.output);
  const auto border = [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (auto x = begin; x < end; ++x)
      for_each_vector(conv.channels,
                      [&](std::int64_t c) HWY_ATTR { one_position<Kernel>(at, x, c); });
  };
  border(0, inner);
  auto x = inner;
  for (; x + positions <= outer; x += positions)
    for_each_vector(conv.channels,
                    [&](std::int64_t c) HWY_ATTR { many_positions<Kernel, Stride>(at, x, c); });
  border(x, conv.x.output);
}

std::int64_t lanes() {
  return static_cast<std::int64_t>(hn::Lanes(tag{}));
}

void rows(const convolution& of, const tensors& with, std::int64_t begin, std::int64_t end) {
  const auto& conv = of.conv;
  for (auto index = begin; index < end; ++index) {
    const auto y = index % conv.y.output;
    const auto top = y * conv.y.stride - conv.y.pad_begin;
    const row at{of,
                 with,
                 index / conv.y.output,
                 y,
                 std::max<std::int64_t>(0, -top),
                 std::min<std::int64_t>(conv.y.kernel, conv.y.input - top)};
    if (conv.y.kernel == 3 && conv.x.stride == 1)
      one_row<3, 1>(at);
    else if (conv.y.kernel == 3)
      one_row<3, 2>(at);
    else if (conv.x.stride == 1)
      one_row<5, 1>(at);
    else
      one_row<5, 2>(at);
  }
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu::depthwise {
namespace {
HWY_EXPORT(lanes);
HWY_EXPORT(rows);
} // namespace

std::int64_t vector_lanes() {
  return HWY_DYNAMIC_DISPATCH(lanes)();
}

void run_rows(const convolution& of, const tensors& with, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(rows)(of, with, begin, end);
}

} // namespace troupe::cpu::depthwise
#endif
