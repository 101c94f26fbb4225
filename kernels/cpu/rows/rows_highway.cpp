#include "kernels/cpu/rows/rows.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/rows_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/elementwise/math-inl.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using floats = hn::ScalableTag<float>;
using vector = hn::Vec<floats>;

// Loads what is left of a row and fills the vector up.
HWY_INLINE vector load_rest(const float* x, std::size_t left, float fill) {
  const floats d;
  HWY_ALIGN float rest[hn::MaxLanes(floats{})];
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane)
    rest[lane] = lane < left ? x[lane] : fill;
  return hn::Load(d, rest);
}

HWY_INLINE void store_rest(vector v, float* y, std::size_t left) {
  const floats d;
  HWY_ALIGN float rest[hn::MaxLanes(floats{})];
  hn::Store(v, d, rest);
  for (std::size_t lane = 0; lane < left; ++lane)
    y[lane] = rest[lane];
}

// Sum of f(x) over a row, four vectors at a time.
template <class F>
HWY_INLINE float sum_of(const float* x, std::size_t count, float fill, const F& f) {
  const floats d;
  const std::size_t lanes = hn::Lanes(d);
  vector a = hn::Zero(d), b = a, c = a, e = a;
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Add(a, f(hn::LoadU(d, x + i)));
    b = hn::Add(b, f(hn::LoadU(d, x + i + lanes)));
    c = hn::Add(c, f(hn::LoadU(d, x + i + 2 * lanes)));
    e = hn::Add(e, f(hn::LoadU(d, x + i + 3 * lanes)));
  }
  for (; i + lanes <= count; i += lanes)
    a = hn::Add(a, f(hn::LoadU(d, x + i)));
  if (i < count)
    b = hn::Add(b, f(load_rest(x + i, count - i, fill)));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

template <class F>
HWY_INLINE void map(const float* x, float* y, std::size_t count, const F& f) {
  const floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i);
  if (i < count)
    store_rest(f(load_rest(x + i, count - i, 0.0F)), y + i, count - i);
}

float sum(const float* x, std::size_t count) {
  return sum_of(x, count, 0.0F, [](vector v) HWY_ATTR { return v; });
}

void scale(const float* x, float factor, float* y, std::size_t count) {
  const auto by = hn::Set(floats{}, factor);
  map(x, y, count, [by](vector v) HWY_ATTR { return hn::Mul(v, by); });
}

void add(const float* x, float* total, std::size_t count) {
  const floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, total + i), hn::LoadU(d, x + i)), d, total + i);
  for (; i < count; ++i)
    total[i] += x[i];
}

void softmax(const float* x, float* y, std::size_t count) {
  if (count == 0)
    return;
  const floats d;
  const std::size_t lanes = hn::Lanes(d);
  vector most = hn::Set(d, x[0]);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    most = hn::Max(most, hn::LoadU(d, x + i));
  if (i < count)
    most = hn::Max(most, load_rest(x + i, count - i, x[0]));
  const vector highest = hn::MaxOfLanes(d, most);
  vector total = hn::Zero(d);
  for (i = 0; i + lanes <= count; i += lanes) {
    const vector e = exp(d, hn::Sub(hn::LoadU(d, x + i), highest));
    total = hn::Add(total, e);
    hn::StoreU(e, d, y + i);
  }
  float sum_of_all = 0.0F;
  if (i < count) {
    const vector e = exp(d, hn::Sub(load_rest(x + i, count - i, x[0]), highest));
    store_rest(e, y + i, count - i);
    for (std::size_t rest = i; rest < count; ++rest)
      sum_of_all += y[rest];
  }
  sum_of_all += hn::GetLane(hn::SumOfLanes(d, total));
  scale(y, 1.0F / sum_of_all, y, count);
}

void normalize(const float* x, const float* scales, const float* biases, float epsilon, float* y,
               std::size_t count) {
  const floats d;
  const std::size_t lanes = hn::Lanes(d);
  const float width = static_cast<float>(count);
  const float mean = sum(x, count) / width;
  const vector middle = hn::Set(d, mean);
  // The fill is the mean itself: it adds nothing to the squares.
  const float squares = sum_of(x, count, mean, [middle](vector v) HWY_ATTR {
    const vector away = hn::Sub(v, middle);
    return hn::Mul(away, away);
  });
  const vector inverse = hn::Set(d, 1.0F / std::sqrt(squares / width + epsilon));
  const auto one = [&](vector v, vector by, vector plus) HWY_ATTR {
    return hn::MulAdd(hn::Mul(hn::Sub(v, middle), inverse), by, plus);
  };
  const vector zero = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(one(hn::LoadU(d, x + i), hn::LoadU(d, scales + i),
                   biases ? hn::LoadU(d, biases + i) : zero),
               d, y + i);
  if (i < count) {
    const auto left = count - i;
    store_rest(one(load_rest(x + i, left, 0.0F), load_rest(scales + i, left, 0.0F),
                   biases ? load_rest(biases + i, left, 0.0F) : zero),
               y + i, left);
  }
}

} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu {

namespace {

HWY_EXPORT(softmax);
HWY_EXPORT(normalize);
HWY_EXPORT(sum);
HWY_EXPORT(add);
HWY_EXPORT(scale);

} // namespace

void softmax_row(const float* x, float* y, std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(softmax)(x, y, count);
}

void normalize_row(const float* x, const float* scales, const float* biases, float epsilon,
                   float* y, std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(normalize)(x, scales, biases, epsilon, y, count);
}

float sum_row(const float* x, std::size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(sum)(x, count);
}

void add_row(const float* x, float* total, std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(add)(x, total, count);
}

void scale_row(const float* x, float factor, float* y, std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(scale)(x, factor, y, count);
}

} // namespace troupe::cpu
#endif
