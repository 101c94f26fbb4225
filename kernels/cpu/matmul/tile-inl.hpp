// The innermost loops of matrix products. Included once per instruction set.

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

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

inline constexpr std::size_t most_tile_rows = 12;

template <class Family, int Width, std::size_t... Rows>
constexpr auto tiles_of_width(std::index_sequence<Rows...>) {
  std::array<decltype(&Family::template tile<1, 1>), most_tile_rows + 1> made{};
  ((made[Rows + 1] = &Family::template tile<static_cast<int>(Rows + 1), Width>), ...);
  return made;
}

template <class Family, std::size_t... Widths>
constexpr auto tiles_of(std::index_sequence<Widths...>) {
  return std::array{tiles_of_width<Family, static_cast<int>(Widths + 1)>(
      std::make_index_sequence<static_cast<std::size_t>(tile_rows[Widths])>{})...};
}

/// The functions `Family::tile<Rows, Width>`, by Width - 1 and by Rows.
template <class Family>
inline constexpr auto tiles = tiles_of<Family>(std::make_index_sequence<widest_tile>{});

/// Cuts any number of rows into tiles of about the same height, for a width of `vectors`: calls
/// `use(i, count, first, height)` for tile i of `count`, the rows from `first` on.
template <class Use>
HWY_INLINE void for_each_tile(std::int64_t rows, std::int64_t vectors, const Use& use) {
  const auto count = (rows + tile_rows[vectors - 1] - 1) / tile_rows[vectors - 1];
  for (std::int64_t i = 0; i < count; ++i) {
    const auto first = rows * i / count;
    use(i, count, first, rows * (i + 1) / count - first);
  }
}

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
