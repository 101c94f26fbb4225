// Register tiles that begin with what the product is added to, where tile-inl.hpp's begin with
// nothing: loading it then waits for nothing. Included once per instruction set.

#include "kernels/cpu/matmul/tile-inl.hpp"

#include <hwy/highway.h>

#include <array>
#include <utility>

#if defined(TROUPE_ADDING_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_ADDING_TILES_INL
#undef TROUPE_ADDING_TILES_INL
#else
#define TROUPE_ADDING_TILES_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int most_tile_rows = 12;

/// A quarter of a few rows of the left side, or a sum of quarters.
struct factor {
  const float* at = nullptr;
  std::int64_t stride = 0;
};

/// Up to two matrices that lie as the result does, on which it is added up; null for none.
struct addends {
  const float* first = nullptr;
  const float* second = nullptr;
};

/// Rows x Width vectors: out = addends + left * panel.
template <int Rows, int Width>
HWY_NOINLINE void adding_tile(const float* HWY_RESTRICT left, std::int64_t left_stride,
                              const float* HWY_RESTRICT panel, std::int64_t inner,
                              float* HWY_RESTRICT out, std::int64_t out_stride,
                              const addends& from) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[Rows][Width];
  HWY_UNROLL(12)
  for (int r = 0; r < Rows; ++r) {
    HWY_UNROLL(4)
    for (int c = 0; c < Width; ++c)
      sums[r][c] = hn::Zero(d);
  }
  for (const float* addend : {from.first, from.second}) {
    if (addend == nullptr)
      break;
    HWY_UNROLL(12)
    for (int r = 0; r < Rows; ++r) {
      HWY_UNROLL(4)
      for (int c = 0; c < Width; ++c)
        sums[r][c] = hn::Add(sums[r][c], hn::LoadU(d, addend + r * out_stride + c * lanes));
    }
  }
  for (std::int64_t k = 0; k < inner; ++k, panel += Width * lanes) {
    hn::Vec<decltype(d)> row[Width];
    HWY_UNROLL(4)
    for (int c = 0; c < Width; ++c)
      row[c] = hn::LoadU(d, panel + c * lanes);
    HWY_UNROLL(12)
    for (int r = 0; r < Rows; ++r) {
      const auto element = hn::Set(d, left[r * left_stride + k]);
      HWY_UNROLL(4)
      for (int c = 0; c < Width; ++c)
        sums[r][c] = hn::MulAdd(element, row[c], sums[r][c]);
    }
  }
  HWY_UNROLL(12)
  for (int r = 0; r < Rows; ++r) {
    HWY_UNROLL(4)
    for (int c = 0; c < Width; ++c)
      hn::StoreU(sums[r][c], d, out + r * out_stride + c * lanes);
  }
}

using adding_function = void (*)(const float*, std::int64_t, const float*, std::int64_t, float*,
                                 std::int64_t, const addends&);

template <int Width, std::size_t... Rows>
constexpr std::array<adding_function, most_tile_rows + 1>
adding_tiles_of(std::index_sequence<Rows...>) {
  std::array<adding_function, most_tile_rows + 1> made{};
  ((made[Rows + 1] = &adding_tile<static_cast<int>(Rows + 1), Width>), ...);
  return made;
}

template <std::size_t... Widths>
constexpr auto all_adding_tiles(std::index_sequence<Widths...>) {
  return std::array{adding_tiles_of<static_cast<int>(Widths + 1)>(
      std::make_index_sequence<static_cast<std::size_t>(tile_rows[Widths])>{})...};
}

inline constexpr auto adding_tiles = all_adding_tiles(std::make_index_sequence<widest_tile>{});

/// out = addends + left * panel for any number of rows, in tiles of about the same height.
inline void multiply(std::int64_t rows, const factor& left, const float* panel,
                     std::int64_t vectors, std::int64_t inner, float* out, std::int64_t out_stride,
                     addends from) {
  const auto& functions = adding_tiles[static_cast<std::size_t>(vectors - 1)];
  const auto count = (rows + tile_rows[vectors - 1] - 1) / tile_rows[vectors - 1];
  for (std::int64_t i = 0; i < count; ++i) {
    const auto first = rows * i / count;
    const auto height = rows * (i + 1) / count - first;
    functions[static_cast<std::size_t>(height)](left.at + first * left.stride, left.stride, panel,
                                                inner, out + first * out_stride, out_stride, from);
    for (const float** addend : {&from.first, &from.second})
      if (*addend != nullptr)
        *addend += height * out_stride;
  }
}

} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
