// A small matrix product on panels (panel_product.hpp). Included once per instruction set.

#include "kernels/cpu/matmul/panel_product.hpp"

#include <hwy/highway.h>

#if defined(TROUPE_PANEL_PRODUCT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_PANEL_PRODUCT_INL
#undef TROUPE_PANEL_PRODUCT_INL
#else
#define TROUPE_PANEL_PRODUCT_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many accumulators as the registers hold beside two columns of B and one element of A.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
constexpr int most_rows = 6;
#else
constexpr int most_rows = 12;
#endif

/// Rows x (Whole vectors and, if Tail, half of one): out = a * b, where row r of `a` starts at
/// r * a_stride and row k of `b` at k * width.
template <int Rows, int Whole, bool Tail>
HWY_INLINE void multiply_block(const float* HWY_RESTRICT a, std::int64_t a_stride,
                               const float* HWY_RESTRICT b, std::int64_t inner,
                               float* HWY_RESTRICT out, std::int64_t out_stride) {
  const hn::ScalableTag<float> d;
  const hn::Half<decltype(d)> dh;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t width = Whole * lanes + (Tail ? lanes / 2 : 0);
  constexpr int columns = Whole > 0 ? Whole : 1;
  hn::Vec<decltype(d)> sums[Rows][columns];
  hn::Vec<decltype(dh)> tails[Rows];
  HWY_UNROLL(12)
  for (int r = 0; r < Rows; ++r) {
    tails[r] = hn::Zero(dh);
    HWY_UNROLL(2)
    for (int c = 0; c < columns; ++c)
      sums[r][c] = hn::Zero(d);
  }
  for (std::int64_t k = 0; k < inner; ++k, b += width) {
    hn::Vec<decltype(d)> column[columns];
    HWY_UNROLL(2)
    for (int c = 0; c < Whole; ++c)
      column[c] = hn::LoadU(d, b + c * lanes);
    const auto tail = Tail ? hn::LoadU(dh, b + Whole * lanes) : hn::Zero(dh);
    HWY_UNROLL(12)
    for (int r = 0; r < Rows; ++r) {
      const float element = a[r * a_stride + k];
      HWY_UNROLL(2)
      for (int c = 0; c < Whole; ++c)
        sums[r][c] = hn::MulAdd(hn::Set(d, element), column[c], sums[r][c]);
      if (Tail)
        tails[r] = hn::MulAdd(hn::Set(dh, element), tail, tails[r]);
    }
  }
  HWY_UNROLL(12)
  for (int r = 0; r < Rows; ++r) {
    HWY_UNROLL(2)
    for (int c = 0; c < Whole; ++c)
      hn::StoreU(sums[r][c], d, out + r * out_stride + c * lanes);
    if (Tail)
      hn::StoreU(tails[r], dh, out + r * out_stride + Whole * lanes);
  }
}

// Blocks of `Rows`; the last one overlaps its predecessor, which wrote the same values.
template <int Rows, int Whole, bool Tail>
void multiply_rows(std::int64_t rows, const float* a, std::int64_t a_stride, const float* b,
                   std::int64_t inner, float* out, std::int64_t out_stride) {
  for (std::int64_t done = 0; done < rows; done += Rows) {
    const auto first = std::min(done, rows - Rows);
    multiply_block<Rows, Whole, Tail>(a + first * a_stride, a_stride, b, inner,
                                      out + first * out_stride, out_stride);
  }
}

template <int Whole, bool Tail>
void multiply_panel(std::int64_t rows, const float* a, std::int64_t a_stride, const float* b,
                    std::int64_t inner, float* out, std::int64_t out_stride) {
  const auto whole = rows / most_rows * most_rows;
  if (whole > 0)
    multiply_rows<most_rows, Whole, Tail>(whole, a, a_stride, b, inner, out, out_stride);
  // The fewest rows that cover the rest, reaching back where there is something to reach into.
  const auto rest = rows - whole;
  if (rest == 0)
    return;
  const auto size = rest > 4 ? (rest > 8 ? most_rows : 8) : rest > 2 ? 4 : rest;
  const auto first = std::max<std::int64_t>(rows - std::min<std::int64_t>(size, most_rows), 0);
  a += first * a_stride;
  out += first * out_stride;
  const auto left = rows - first;
  if (left == most_rows)
    multiply_rows<most_rows, Whole, Tail>(left, a, a_stride, b, inner, out, out_stride);
  else if (left >= 8 && most_rows > 8)
    multiply_rows<8, Whole, Tail>(left, a, a_stride, b, inner, out, out_stride);
  else if (left >= 4)
    multiply_rows<4, Whole, Tail>(left, a, a_stride, b, inner, out, out_stride);
  else if (left >= 2)
    multiply_rows<2, Whole, Tail>(left, a, a_stride, b, inner, out, out_stride);
  else
    multiply_rows<1, Whole, Tail>(left, a, a_stride, b, inner, out, out_stride);
}

/// out[rows, plan.padded] = a[rows, inner] * b, `b` cut into the panels of `plan`.
inline void multiply_panels(const panel_plan& plan, std::int64_t rows, const float* a,
                            std::int64_t a_stride, const float* b, std::int64_t inner, float* out,
                            std::int64_t out_stride) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>{}));
  for (const auto width : plan.widths) {
    if (width == 2 * lanes)
      multiply_panel<2, false>(rows, a, a_stride, b, inner, out, out_stride);
    else if (width > lanes)
      multiply_panel<1, true>(rows, a, a_stride, b, inner, out, out_stride);
    else if (width == lanes)
      multiply_panel<1, false>(rows, a, a_stride, b, inner, out, out_stride);
    else
      multiply_panel<0, true>(rows, a, a_stride, b, inner, out, out_stride);
    b += width * inner;
    out += width;
  }
}

} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
