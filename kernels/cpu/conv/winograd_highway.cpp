#include "kernels/cpu/conv/winograd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/winograd_highway.cpp"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV) // sizeless
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/cpu/fused_steps-inl.hpp"
#include "kernels/cpu/matmul/panel_product-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using namespace winograd;
using tag = hn::ScalableTag<float>;
using vector = hn::Vec<tag>;

struct place {
  std::int64_t image, y, x; ///< of the tile's first output
};

place place_of(const convolution& of, std::int64_t index) {
  const auto in_image = of.tiles_y * of.tiles_x;
  const auto within = index % in_image;
  return {index / in_image, within / of.tiles_x * tile, within % of.tiles_x * tile};
}

// One axis of the input transform: six inputs to six points.
HWY_INLINE void to_points(const vector (&d)[6], vector (&t)[6]) {
  const tag f;
  const auto middle = hn::Set(f, 2.5F);
  t[0] = hn::Add(hn::NegMulAdd(middle, d[2], d[0]), d[4]);
  t[5] = hn::Add(hn::NegMulAdd(middle, d[3], d[1]), d[5]);
  const auto half = hn::Set(f, 0.5F);
  const auto even_a = hn::NegMulAdd(half, d[2], d[4]);
  const auto odd_a = hn::Mul(hn::Set(f, point_a), hn::NegMulAdd(half, d[1], d[3]));
  t[1] = hn::Add(even_a, odd_a);
  t[2] = hn::Sub(even_a, odd_a);
  const auto two = hn::Set(f, 2.0F);
  const auto even_b = hn::NegMulAdd(two, d[2], d[4]);
  const auto odd_b = hn::Mul(hn::Set(f, point_b), hn::NegMulAdd(two, d[1], d[3]));
  t[3] = hn::Add(even_b, odd_b);
  t[4] = hn::Sub(even_b, odd_b);
}

// One axis of the output transform: six points to four outputs.
HWY_INLINE void from_points(const vector (&m)[6], vector (&o)[4]) {
  const tag f;
  const auto even_a = hn::Add(m[1], m[2]);
  const auto odd_a = hn::Mul(hn::Set(f, point_a), hn::Sub(m[1], m[2]));
  const auto even_b = hn::Add(m[3], m[4]);
  const auto odd_b = hn::Mul(hn::Set(f, point_b), hn::Sub(m[3], m[4]));
  const auto half = hn::Set(f, 0.5F);
  const auto two = hn::Set(f, 2.0F);
  o[0] = hn::Add(m[0], hn::Add(even_a, even_b));
  o[1] = hn::Add(odd_a, odd_b);
  o[2] = hn::MulAdd(two, even_a, hn::Mul(half, even_b));
  o[3] = hn::MulAdd(two, odd_a, hn::MulAdd(half, odd_b, m[5]));
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

// Inputs of a tile, transformed along y: `reach` columns of as many points, a line longer than they
// need be so that they do not share places in the cache. A tile's right neighbour begins four
// columns on and finds its first two here.
class column_ring {
public:
  column_ring(const convolution& of, const float* input, float* memory)
      : of_{of}, input_{input}, memory_{memory} {}

  /// Makes the columns of tile `index`, in place of those of the tile before.
  void move_to(std::int64_t index) {
    const auto at = place_of(of_, index);
    const bool neighbour = index == index_ + 1 && at.x > 0;
    index_ = index;
    first_ = neighbour ? (first_ + tile) % reach : 0;
    const auto& conv = of_.conv;
    const float* rows[reach];
    for (std::int64_t y = 0; y < reach; ++y) {
      const auto from = at.y - conv.y.pad_begin + y;
      rows[y] = from >= 0 && from < conv.y.input
                    ? input_ + (at.image * conv.y.input + from) * conv.x.input * conv.channels
                    : nullptr;
    }
    for (std::int64_t x = neighbour ? reach - tile : 0; x < reach; ++x)
      fill(rows, at.x - conv.x.pad_begin + x, column(x));
  }

  [[nodiscard]] const float* at(std::int64_t x, std::int64_t y) const {
    return column(x) + y * of_.column_stride;
  }

private:
  [[nodiscard]] float* column(std::int64_t x) const {
    return memory_ + (first_ + x) % reach * reach * of_.column_stride;
  }

  void fill(const float* const (&rows)[reach], std::int64_t x, float* to) const {
    const tag f;
    const auto channels = of_.conv.channels;
    const bool inside = x >= 0 && x < of_.conv.x.input;
    const float* pixel[reach];
    for (std::int64_t y = 0; y < reach; ++y)
      pixel[y] = inside && rows[y] != nullptr ? rows[y] + x * channels : of_.no_pixel.data();
    for_each_vector(channels, [&](std::int64_t c) HWY_ATTR {
      constexpr std::int64_t ahead = 128; // floats
      vector d[6];
      vector t[6];
      HWY_UNROLL(6)
      for (int y = 0; y < reach; ++y) {
        d[y] = hn::LoadU(f, pixel[y] + c);
        hwy::Prefetch(pixel[y] + c + ahead);
      }
      to_points(d, t);
      HWY_UNROLL(6)
      for (int y = 0; y < reach; ++y)
        hn::StoreU(t[y], f, to + y * of_.column_stride + c);
    });
  }

  const convolution& of_;
  const float* input_;
  float* memory_;
  std::int64_t index_ = -2;
  std::int64_t first_ = 0; ///< where the column of x = 0 lies
};

void transform_input(const convolution& of, const column_ring& columns, float* to) {
  const tag f;
  const float* from[products];
  for (std::int64_t i = 0; i < products; ++i)
    from[i] = columns.at(i % reach, i / reach);
  for_each_vector(of.conv.channels, [&](std::int64_t c) HWY_ATTR {
    for (int y = 0; y < reach; ++y) {
      vector d[6];
      vector t[6];
      HWY_UNROLL(6)
      for (int x = 0; x < reach; ++x)
        d[x] = hn::LoadU(f, from[y * reach + x] + c);
      to_points(d, t);
      HWY_UNROLL(6)
      for (int x = 0; x < reach; ++x)
        hn::StoreU(t[x], f, to + (y * reach + x) * of.in_stride + c);
    }
  });
}

void transform_output(const convolution& of, const tensors& with, std::int64_t index,
                      const float* from) {
  const tag f;
  const auto& conv = of.conv;
  const auto at = place_of(of, index);
  const auto rows = std::min(tile, conv.y.output - at.y);
  const auto columns = std::min(tile, conv.x.output - at.x);
  const auto origin =
      ((at.image * conv.y.output + at.y) * conv.x.output + at.x) * conv.out_channels;
  for_each_vector(conv.out_channels, [&](std::int64_t c) HWY_ATTR {
    vector half[reach][tile];
    for (int x = 0; x < reach; ++x) {
      vector m[6];
      HWY_UNROLL(6)
      for (int y = 0; y < reach; ++y)
        m[y] = hn::LoadU(f, from + (y * reach + x) * of.out_stride + c);
      from_points(m, half[x]);
    }
    const auto bias = with.bias != nullptr ? hn::LoadU(f, with.bias + c) : hn::Zero(f);
    for (std::int64_t y = 0; y < rows; ++y) {
      vector m[6];
      vector o[4];
      HWY_UNROLL(6)
      for (int x = 0; x < reach; ++x)
        m[x] = half[x][y];
      from_points(m, o);
      const auto to = origin + y * conv.x.output * conv.out_channels + c;
      HWY_UNROLL(4)
      for (auto& value : o)
        value = hn::Add(value, bias);
      if (columns == tile) {
        apply_steps(f, of.fused, with.operands, to, conv.out_channels, o);
        HWY_UNROLL(4)
        for (std::int64_t x = 0; x < tile; ++x)
          hn::StoreU(o[x], f, with.output + to + x * conv.out_channels);
        continue;
      }
      for (std::int64_t x = 0; x < columns; ++x) {
        vector one[1] = {o[x]};
        apply_steps(f, of.fused, with.operands, to + x * conv.out_channels, 0, one);
        hn::StoreU(one[0], f, with.output + to + x * conv.out_channels);
      }
    }
  });
}

std::int64_t lanes() {
  return static_cast<std::int64_t>(hn::Lanes(tag{}));
}

void tiles(const convolution& of, const tensors& with, std::int64_t begin, std::int64_t end,
           float* workspace) {
  const auto channels = of.conv.channels;
  float* inputs = workspace;
  float* outputs = workspace + products * of.in_stride;
  column_ring columns{of, with.input, outputs + products * of.out_stride};
  std::int64_t count = 0;
  for (auto first = begin; first < end; first += count) {
    const auto left = end - first;
    count = left <= of.block + most_left_over ? left : of.block;
    for (std::int64_t i = 0; i < count; ++i) {
      columns.move_to(first + i);
      transform_input(of, columns, inputs + i * channels);
    }
    for (std::int64_t p = 0; p < products; ++p)
      multiply_panels(of.panels, count, inputs + p * of.in_stride, channels,
                      with.weights + p * channels * of.panels.padded, channels,
                      outputs + p * of.out_stride, of.panels.padded);
    for (std::int64_t i = 0; i < count; ++i)
      transform_output(of, with, first + i, outputs + i * of.panels.padded);
  }
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu::winograd {
namespace {
HWY_EXPORT(lanes);
HWY_EXPORT(tiles);
} // namespace

std::int64_t vector_lanes() {
  return HWY_DYNAMIC_DISPATCH(lanes)();
}

void run_tiles(const convolution& of, const tensors& with, std::int64_t begin, std::int64_t end,
               float* workspace) {
  HWY_DYNAMIC_DISPATCH(tiles)(of, with, begin, end, workspace);
}

} // namespace troupe::cpu::winograd
#endif
