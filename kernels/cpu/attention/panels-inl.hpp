// Products with panels, and keys and values packed into them. Included once per instruction set.

#include "kernels/cpu/attention/blocks.hpp"
#include "kernels/cpu/matmul/tile-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#if defined(TROUPE_ATTENTION_PANELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_ATTENTION_PANELS_INL
#undef TROUPE_ATTENTION_PANELS_INL
#else
#define TROUPE_ATTENTION_PANELS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using namespace attention_blocks;
using tag = hn::ScalableTag<float>;
using vector = hn::Vec<tag>;

std::int64_t lanes_here() {
  return static_cast<std::int64_t>(hn::Lanes(tag{}));
}

/// `first` says that nothing stands in `out` yet.
struct summing_tiles {
  template <int Rows, int Width>
  static HWY_NOINLINE void tile(const tile_sides& of, float* out, std::int64_t out_stride,
                                bool first) {
    const tag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    multiply_tile<Rows, Width>(
        of, [](std::int64_t) HWY_ATTR {},
        [&](vector(&sums)[Rows][Width]) HWY_ATTR {
          HWY_UNROLL(12)
          for (int r = 0; r < Rows; ++r) {
            HWY_UNROLL(4)
            for (int c = 0; c < Width; ++c) {
              float* to = out + r * out_stride + c * lanes;
              hn::StoreU(first ? sums[r][c] : hn::Add(sums[r][c], hn::LoadU(d, to)), d, to);
            }
          }
        });
  }
};

// The product of any number of rows with a panel of `vectors`.
void multiply(std::int64_t rows, const tile_sides& of, std::int64_t vectors, float* out,
              std::int64_t out_stride, bool first) {
  const auto& functions = tiles<summing_tiles>[static_cast<std::size_t>(vectors - 1)];
  for_each_tile(rows, vectors,
                [&](std::int64_t, std::int64_t, std::int64_t row, std::int64_t height) HWY_ATTR {
                  auto part = of;
                  part.left += row * of.left_stride;
                  functions[static_cast<std::size_t>(height)](part, out + row * out_stride,
                                                              out_stride, first);
                });
}

/// Calls `use(first, vectors)` for panels of about the same width that cover `columns`.
template <class Use>
void for_each_panel(std::int64_t columns, const Use& use) {
  const auto lanes = lanes_here();
  const auto vectors = (columns + lanes - 1) / lanes;
  const auto panels = (vectors + widest_tile - 1) / widest_tile;
  for (std::int64_t i = 0; i < panels; ++i) {
    const auto first = vectors * i / panels;
    use(first * lanes, vectors * (i + 1) / panels - first);
  }
}

// Four keys next to each other in the rows of a panel `width` wide; element i of one is in row i.
HWY_INLINE std::int64_t turn_four(const float* from, std::int64_t position, std::int64_t size,
                                  float* to, std::int64_t width) {
#if HWY_TARGET == HWY_SCALAR
  (void)from, (void)position, (void)size, (void)to, (void)width;
  return 0;
#else
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> pairs;
  std::int64_t i = 0;
  for (; i + 4 <= size; i += 4) {
    const auto a = hn::LoadU(d, from + i);
    const auto b = hn::LoadU(d, from + position + i);
    const auto c = hn::LoadU(d, from + 2 * position + i);
    const auto e = hn::LoadU(d, from + 3 * position + i);
    const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
    const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
    const auto ce_low = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
    const auto ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
    float* row = to + i * width;
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_low, ce_low)), d, row);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_low, ce_low)), d, row + width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_high, ce_high)), d, row + 2 * width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_high, ce_high)), d, row + 3 * width);
  }
  return i;
#endif
}

// Keys become the columns of panels; columns behind the last key are zeros.
void pack_keys(const problem& of, const float* from, float* to) {
  for_each_panel(of.keys, [&](std::int64_t first, std::int64_t vectors) HWY_ATTR {
    const auto width = vectors * lanes_here();
    const auto count = std::min(width, of.keys - first);
    const float* keys = from + first * of.k.position;
    std::int64_t j = 0;
    for (; of.k.element == 1 && j + 4 <= count; j += 4) {
      const float* four = keys + j * of.k.position;
      for (auto i = turn_four(four, of.k.position, of.size, to + j, width); i < of.size; ++i)
        for (std::int64_t c = 0; c < 4; ++c)
          to[i * width + j + c] = four[c * of.k.position + i];
    }
    for (std::int64_t i = 0; i < of.size; ++i) {
      float* row = to + i * width;
      const float* element = keys + i * of.k.element;
      if (of.k.position == 1)
        std::memcpy(row + j, element + j, static_cast<std::size_t>(count - j) * sizeof(float));
      else
        for (auto c = j; c < count; ++c)
          row[c] = element[c * of.k.position];
      std::fill(row + count, row + width, 0.0F);
    }
    to += of.size * width;
  });
}

// Values become the rows of panels.
void pack_values(const problem& of, const float* from, float* to) {
  for_each_panel(of.value_size, [&](std::int64_t first, std::int64_t vectors) HWY_ATTR {
    const tag d;
    const auto lanes = lanes_here();
    const auto width = vectors * lanes;
    const auto count = std::min(width, of.value_size - first);
    for (std::int64_t j = 0; j < of.keys; ++j, to += width) {
      const float* row = from + j * of.v.position + first;
      std::int64_t c = 0;
      for (; c + lanes <= count; c += lanes)
        hn::Store(hn::LoadU(d, row + c), d, to + c);
      for (; c < width; ++c)
        to[c] = c < count ? row[c] : 0.0F;
    }
  });
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
