// From scores to weights, a query at a time. Included once per instruction set, behind
// panels-inl.hpp.

#include "kernels/cpu/attention/panels-inl.hpp"
#include "kernels/cpu/elementwise/math-inl.h"

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <limits>

#if defined(TROUPE_ATTENTION_SOFTMAX_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_ATTENTION_SOFTMAX_INL
#undef TROUPE_ATTENTION_SOFTMAX_INL
#else
#define TROUPE_ATTENTION_SOFTMAX_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// 2^t for t <= 0, good to 1e-7; 0 below -126.5, NaN for NaN. The polynomial is a least-squares fit
// of 2^r on [-1/2, 1/2], reweighted until the relative error, 2e-9, levels out.
HWY_INLINE vector power_of_two(tag d, vector t) {
  const auto least = hn::Set(d, -127.0F);
  t = hn::IfThenElse(hn::Lt(t, least), least, t);
  // Adding this leaves the nearest integer, and the exponent's bias, in the lowest bits.
  const auto shift = hn::Set(d, 12583039.0F); // 1.5 * 2^23 + 127
  const auto shifted = hn::Add(t, shift);
  const auto r = hn::Sub(t, hn::Sub(shifted, shift));
  auto p = hn::Set(d, 0.0001534581242594868F);
  p = hn::MulAdd(p, r, hn::Set(d, 0.0013399930903688073F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.009618489071726799F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.05550328642129898F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.24022646248340607F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.6931471824645996F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  const hn::RebindToSigned<tag> bits;
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(bits, shifted))));
}

template <class Change>
HWY_INLINE void change_row(float* row, std::int64_t count, const Change& change) {
  const tag d;
  const auto lanes = lanes_here();
  for (std::int64_t j = 0; j < count; j += lanes) // a row has room for a whole number of vectors
    hn::StoreU(change(hn::LoadU(d, row + j), j), d, row + j);
}

// Reads `count` numbers of what a score step has for a row into vectors' worth of floats.
constexpr std::int64_t gathered = 64;

template <class T>
HWY_INLINE void gather(const T* from, std::int64_t stride, std::int64_t count, float* to) {
  for (std::int64_t j = 0; j < gathered; ++j)
    to[j] = j < count ? static_cast<float>(from[j * stride]) : 0.0F;
}

// row = step(row) for the first `count` scores of a query; its operand starts at `start`.
void apply_step(const score_step& step, const void* operand, std::int64_t start, std::int64_t count,
                float* row) {
  const tag d;
  const auto stride = step.strides[3];
  const bool adds = step.what == score_step::kind::add;
  const bool keeps_true = step.what == score_step::kind::keep_where;
  const auto otherwise = hn::Set(d, step.otherwise);
  const auto* numbers = static_cast<const float*>(operand) + (adds ? start : 0);
  const auto* truths = static_cast<const std::uint8_t*>(operand) + (adds ? 0 : start);
  const auto present = step.keys < 0 ? count : std::min(step.keys, count);
  const auto lanes = lanes_here();
  std::int64_t j = 0;
  if (adds && stride == 1)
    for (; j + lanes <= present; j += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, row + j), hn::LoadU(d, numbers + j)), d, row + j);
  HWY_ALIGN float part[gathered];
  for (; j < present; j += gathered) {
    const auto left = std::min(gathered, present - j);
    if (adds)
      gather(numbers + j * stride, stride, left, part);
    else
      gather(truths + j * stride, stride, left, part);
    change_row(row + j, left, [&](vector score, std::int64_t c) HWY_ATTR {
      const auto found = hn::Load(d, part + c);
      if (adds)
        return hn::Add(score, found);
      const auto is_true = hn::Ne(found, hn::Zero(d));
      return keeps_true ? hn::IfThenElse(is_true, score, otherwise)
                        : hn::IfThenElse(is_true, otherwise, score);
    });
  }
  std::fill(row + present, row + count, minus_infinity);
}

// The scores of a query become what the softmax takes, beyond the last key -inf.
void take_steps(const problem& of, const tensors& with, const std::array<std::int64_t, 3>& at,
                std::int64_t keys, float* row) {
  const tag d;
  const auto by = hn::Set(d, of.scale);
  change_row(row, keys, [&](vector x, std::int64_t) HWY_ATTR { return hn::Mul(x, by); });
  if (of.softcap != 0) {
    const auto cap = hn::Set(d, of.softcap);
    const auto inverse = hn::Set(d, 1.0F / of.softcap);
    change_row(row, keys, [&](vector x, std::int64_t) HWY_ATTR {
      return hn::Mul(cap, tanh(d, hn::Mul(x, inverse)));
    });
  }
  for (std::size_t i = 0; i < of.step_count; ++i) {
    std::int64_t start = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      start += at[axis] * of.steps[i].strides[axis];
    apply_step(of.steps[i], with.steps[i], start, keys, row);
  }
}

HWY_INLINE vector highest_of(const float* row, std::int64_t filled) {
  const tag d;
  const auto lanes = lanes_here();
  auto most = hn::Set(d, minus_infinity);
  for (std::int64_t j = 0; j < filled; j += lanes)
    most = hn::Max(most, hn::LoadU(d, row + j));
  return hn::MaxOfLanes(d, most);
}

// row = scale row + added, the usual kind of mask; answers the largest of the whole vectors.
HWY_INLINE vector add_to_row(float* row, std::int64_t whole, float scale, const float* added) {
  const tag d;
  const auto lanes = lanes_here();
  const auto by = hn::Set(d, scale);
  auto most = hn::Set(d, minus_infinity);
  for (std::int64_t j = 0; j < whole; j += lanes) {
    const auto x = hn::MulAdd(hn::LoadU(d, row + j), by, hn::LoadU(d, added + j));
    hn::StoreU(x, d, row + j);
    most = hn::Max(most, x);
  }
  return most;
}

// Scores become weights, exp(scale (x - most)); answers the inverse of their sum.
HWY_INLINE vector weigh(float* row, std::int64_t filled, float scale, vector most) {
  const tag d;
  const auto lanes = lanes_here();
  const auto by = hn::Set(d, scale * 1.44269504F); // exp(x) = 2^(x / ln 2)
  auto sum = hn::Zero(d);
  for (std::int64_t j = 0; j < filled; j += lanes) {
    const auto weight = power_of_two(d, hn::Mul(hn::Sub(hn::LoadU(d, row + j), most), by));
    sum = hn::Add(sum, weight);
    hn::StoreU(weight, d, row + j);
  }
  return hn::Div(hn::Set(d, 1.0F), hn::SumOfLanes(d, sum));
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
