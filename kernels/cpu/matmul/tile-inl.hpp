// The innermost loops of matrix products. Included once per instruction set.

#include <hwy/highway.h>

#include <cstdint>

#if defined(TROUPE_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_TILE_INL
#undef TROUPE_TILE_INL
#else
#define TROUPE_TILE_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The most rows of a tile that is so many vectors wide, less one: its sums fill the registers
/// beside a row of the right side and one element of the left side.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SCALAR
inline constexpr int widest_tile = 2;
inline constexpr std::int64_t tile_rows[widest_tile] = {12, 6};
#else
inline constexpr int widest_tile = 4;
inline constexpr std::int64_t tile_rows[widest_tile] = {12, 12, 8, 6};
#endif

/// What of a product's two sides a tile reads: `inner` elements of each row on the left, as many
/// rows of `Width` vectors on the right.
struct tile_sides {
  const float* left;
  std::int64_t left_stride; ///< from row to row, in floats
  const float* right;
  std::int64_t right_stride;
  std::int64_t inner;
};

/// Rows x Width vectors of left * right, handed to `finish(sums)` in registers. `each(k)` is called
/// on the way.
template <int Rows, int Width, class Each, class Finish>
HWY_INLINE void multiply_tile(const tile_sides& of, const Each& each, const Finish& finish) {
  const hn::ScalableTag<float> d;
  using vector = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* HWY_RESTRICT left = of.left;
  const float* HWY_RESTRICT right = of.right;
  vector sums[Rows][Width];
  HWY_UNROLL(12)
  for (int r = 0; r < Rows; ++r) {
    HWY_UNROLL(4)
    for (int c = 0; c < Width; ++c)
      sums[r][c] = hn::Zero(d);
  }
  for (std::int64_t k = 0; k < of.inner; ++k, right += of.right_stride) {
    vector row[Width];
    HWY_UNROLL(4)
    for (int c = 0; c < Width; ++c)
      row[c] = hn::LoadU(d, right + c * lanes);
    each(k);
    HWY_UNROLL(12)
    for (int r = 0; r < Rows; ++r) {
      const auto element = hn::Set(d, left[r * of.left_stride + k]);
      HWY_UNROLL(4)
      for (int c = 0; c < Width; ++c)
        sums[r][c] = hn::MulAdd(element, row[c], sums[r][c]);
    }
  }
  finish(sums);
}

} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
