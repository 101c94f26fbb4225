// Register tiles that begin with what the product is added to, where tile-inl.hpp's begin with
// nothing: loading it then waits for nothing. Included once per instruction set.

#include "kernels/cpu/matmul/tile-inl.hpp"

#include <hwy/highway.h>

#include <cstdint>

#if defined(TROUPE_ADDING_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_ADDING_TILES_INL
#undef TROUPE_ADDING_TILES_INL
#else
#define TROUPE_ADDING_TILES_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
struct adding_tiles {
  template <int Rows, int Width>
  static HWY_NOINLINE void
  tile(const float* HWY_RESTRICT left, std::int64_t left_stride, const float* HWY_RESTRICT panel,
       std::int64_t inner, float* HWY_RESTRICT out, std::int64_t out_stride, const addends& from) {
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
};

/// out = addends + left * panel for any number of rows.
inline void multiply(std::int64_t rows, const factor& left, const float* panel,
                     std::int64_t vectors, std::int64_t inner, float* out, std::int64_t out_stride,
                     const addends& from) {
  const auto& functions = tiles<adding_tiles>[static_cast<std::size_t>(vectors - 1)];
  for_each_tile(rows, vectors,
                [&](std::int64_t, std::int64_t, std::int64_t first, std::int64_t height) HWY_ATTR {
                  const auto skipped = first * out_stride;
                  const addends here{from.first != nullptr ? from.first + skipped : nullptr,
                                     from.second != nullptr ? from.second + skipped : nullptr};
                  functions[static_cast<std::size_t>(height)](left.at + first * left.stride,
                                                              left.stride, panel, inner,
                                                              out + skipped, out_stride, here);
                });
}

} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
