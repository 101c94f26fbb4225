#include "kernels/cpu/rows/fold_rows.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/fold_rows_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using tag = hn::ScalableTag<float>;

// `Width` vectors of the rows, `Together` rows at a time: as many sums as hide what one addition
// waits for.
template <int Width, int Together>
HWY_INLINE void fold_vectors(const float* from, std::int64_t stride, std::int64_t rows, float* to) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<tag> sums[Together * Width];
  HWY_UNROLL(8)
  for (auto& sum : sums)
    sum = hn::Zero(d);
  std::int64_t row = 0;
  for (; row + Together <= rows; row += Together, from += Together * stride) {
    HWY_UNROLL(8)
    for (int i = 0; i < Together * Width; ++i)
      sums[i] = hn::Add(sums[i], hn::LoadU(d, from + i / Width * stride + i % Width * lanes));
  }
  for (; row < rows; ++row, from += stride) {
    HWY_UNROLL(8)
    for (int c = 0; c < Width; ++c)
      sums[c] = hn::Add(sums[c], hn::LoadU(d, from + c * lanes));
  }
  HWY_UNROLL(8)
  for (int c = 0; c < Width; ++c) {
    for (int i = 1; i < Together; ++i)
      sums[c] = hn::Add(sums[c], sums[i * Width + c]);
    hn::StoreU(sums[c], d, to + c * lanes);
  }
}

void fold(const float* from, std::int64_t stride, std::int64_t rows, float* to,
          std::int64_t count) {
  const tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (count < lanes) {
    std::fill_n(to, count, 0.0F);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < count; ++i)
        to[i] += from[row * stride + i];
    return;
  }
  std::int64_t at = 0;
  for (; at + 8 * lanes <= count; at += 8 * lanes)
    fold_vectors<8, 1>(from + at, stride, rows, to + at);
  for (; at + 4 * lanes <= count; at += 4 * lanes)
    fold_vectors<4, 2>(from + at, stride, rows, to + at);
  for (; at + 2 * lanes <= count; at += 2 * lanes)
    fold_vectors<2, 4>(from + at, stride, rows, to + at);
  for (; at < count; at += lanes) { // the last vector may overlap its neighbour
    const auto begin = std::min(at, count - lanes);
    fold_vectors<1, 8>(from + begin, stride, rows, to + begin);
  }
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu {
namespace {
HWY_EXPORT(fold);
} // namespace

void fold_rows(const float* from, std::int64_t stride, std::int64_t rows, float* to,
               std::int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(fold)(from, stride, rows, to, count);
}

} // namespace troupe::cpu
#endif
