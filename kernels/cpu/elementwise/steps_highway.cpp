// The inner loops of element-wise programs, compiled once per instruction set and picked at run
// time.

#include "kernels/cpu/elementwise/step.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise/steps_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/elementwise/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using floats = hn::ScalableTag<float>;

// y[i] = f(x[i]); the rest that fills no vector goes through one that is filled up with ones, on
// which every step is defined.
template <class F>
HWY_INLINE void map(const float* HWY_RESTRICT x, float* y, std::size_t count, const F& f) {
  const floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i);
  if (i == count)
    return;
  HWY_ALIGN float rest[hn::MaxLanes(floats{})];
  for (std::size_t lane = 0; lane < lanes; ++lane)
    rest[lane] = i + lane < count ? x[i + lane] : 1.0F;
  hn::Store(f(d, hn::Load(d, rest)), d, rest);
  for (std::size_t lane = 0; i + lane < count; ++lane)
    y[i + lane] = rest[lane];
}

template <class F>
HWY_INLINE void map2(const float* x, const float* o, bool repeated, float* y, std::size_t count,
                     const F& f) {
  const floats d;
  if (repeated) {
    const auto other = hn::Set(d, *o);
    map(x, y, count, [&](auto tag, auto v) HWY_ATTR { return f(tag, v, other); });
    return;
  }
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(f(d, hn::LoadU(d, x + i), hn::LoadU(d, o + i)), d, y + i);
  if (i == count)
    return;
  HWY_ALIGN float rest[hn::MaxLanes(floats{})];
  HWY_ALIGN float others[hn::MaxLanes(floats{})];
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    rest[lane] = i + lane < count ? x[i + lane] : 1.0F;
    others[lane] = i + lane < count ? o[i + lane] : 1.0F;
  }
  hn::Store(f(d, hn::Load(d, rest), hn::Load(d, others)), d, rest);
  for (std::size_t lane = 0; i + lane < count; ++lane)
    y[i + lane] = rest[lane];
}

void run(const step& s, const float* x, const float* o, bool repeated, float* y, std::size_t n) {
  const floats f;
  const auto a = hn::Set(f, s.alpha);
  const auto b = hn::Set(f, s.beta);
  const auto zero = hn::Zero(f);
  const auto one = hn::Set(f, 1.0F);
  // A comparison and a choice keep NaN, where a vector maximum may not.
  const auto at_least = [](auto v, auto low)
                            HWY_ATTR { return hn::IfThenElse(hn::Lt(v, low), low, v); };
  const auto at_most = [](auto v, auto high)
                           HWY_ATTR { return hn::IfThenElse(hn::Gt(v, high), high, v); };
  const auto gate = [&](auto v)
                        HWY_ATTR { return at_most(at_least(hn::MulAdd(a, v, b), zero), one); };

  switch (s.kind) {
    case step_kind::copy:
      if (x != y)
        map(x, y, n, [](auto, auto v) HWY_ATTR { return v; });
      return;
    case step_kind::relu:
      return map(x, y, n, [&](auto, auto v) HWY_ATTR { return at_least(v, zero); });
    case step_kind::leaky_relu:
      return map(x, y, n, [&](auto, auto v) HWY_ATTR {
        return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(a, v), v);
      });
    case step_kind::clip:
      return map(x, y, n, [&](auto, auto v) HWY_ATTR { return at_most(at_least(v, a), b); });
    case step_kind::linear:
      return map(x, y, n, [&](auto, auto v) HWY_ATTR { return hn::MulAdd(a, v, b); });
    case step_kind::sigmoid:
      return map(x, y, n, [](auto d, auto v) HWY_ATTR { return sigmoid(d, v); });
    case step_kind::tanh: return map(x, y, n, [](auto d, auto v) HWY_ATTR { return tanh(d, v); });
    case step_kind::hard_sigmoid:
      return map(x, y, n, [&](auto, auto v) HWY_ATTR { return gate(v); });
    case step_kind::hard_swish:
      return map(x, y, n, [&](auto, auto v) HWY_ATTR { return hn::Mul(v, gate(v)); });
    case step_kind::silu:
      return map(x, y, n, [](auto d, auto v) HWY_ATTR { return hn::Mul(v, sigmoid(d, v)); });
    case step_kind::gelu_erf:
      return map(x, y, n, [](auto d, auto v) HWY_ATTR { return gelu(d, v); });
    case step_kind::gelu_tanh:
      return map(x, y, n, [](auto d, auto v) HWY_ATTR { return gelu_tanh(d, v); });
    case step_kind::elu:
      return map(x, y, n, [&](auto d, auto v) HWY_ATTR {
        return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(a, hn::Expm1(d, v)), v);
      });
    case step_kind::erf: return map(x, y, n, [](auto d, auto v) HWY_ATTR { return erf(d, v); });
    case step_kind::exp: return map(x, y, n, [](auto d, auto v) HWY_ATTR { return exp(d, v); });
    case step_kind::log: return map(x, y, n, [](auto d, auto v) HWY_ATTR { return log(d, v); });
    case step_kind::sqrt: return map(x, y, n, [](auto, auto v) HWY_ATTR { return hn::Sqrt(v); });
    case step_kind::square:
      return map(x, y, n, [](auto, auto v) HWY_ATTR { return hn::Mul(v, v); });
    case step_kind::neg: return map(x, y, n, [](auto, auto v) HWY_ATTR { return hn::Neg(v); });
    case step_kind::abs: return map(x, y, n, [](auto, auto v) HWY_ATTR { return hn::Abs(v); });
    case step_kind::floor: return map(x, y, n, [](auto, auto v) HWY_ATTR { return hn::Floor(v); });
    case step_kind::ceil: return map(x, y, n, [](auto, auto v) HWY_ATTR { return hn::Ceil(v); });
    case step_kind::round: return map(x, y, n, [](auto, auto v) HWY_ATTR { return hn::Round(v); });
    case step_kind::reciprocal:
      return map(x, y, n, [&](auto, auto v) HWY_ATTR { return hn::Div(one, v); });
    case step_kind::add:
      return map2(x, o, repeated, y, n,
                  [](auto, auto v, auto w) HWY_ATTR { return hn::Add(v, w); });
    case step_kind::multiply:
      return map2(x, o, repeated, y, n,
                  [](auto, auto v, auto w) HWY_ATTR { return hn::Mul(v, w); });
    case step_kind::subtract:
      return map2(x, o, repeated, y, n,
                  [](auto, auto v, auto w) HWY_ATTR { return hn::Sub(v, w); });
    case step_kind::subtract_from:
      return map2(x, o, repeated, y, n,
                  [](auto, auto v, auto w) HWY_ATTR { return hn::Sub(w, v); });
    case step_kind::divide:
      return map2(x, o, repeated, y, n,
                  [](auto, auto v, auto w) HWY_ATTR { return hn::Div(v, w); });
    case step_kind::divide_into:
      return map2(x, o, repeated, y, n,
                  [](auto, auto v, auto w) HWY_ATTR { return hn::Div(w, v); });
    case step_kind::minimum:
      return map2(x, o, repeated, y, n,
                  [&](auto, auto v, auto w) HWY_ATTR { return at_most(v, w); });
    case step_kind::maximum:
      return map2(x, o, repeated, y, n,
                  [&](auto, auto v, auto w) HWY_ATTR { return at_least(v, w); });
  }
}

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu {

namespace {

HWY_EXPORT(run);
HWY_EXPORT(target_name);

} // namespace

step step_of(const post_op& fused) noexcept {
  constexpr auto kind_of = [](post_op_kind kind) {
    switch (kind) {
      case post_op_kind::relu: return step_kind::relu;
      case post_op_kind::leaky_relu: return step_kind::leaky_relu;
      case post_op_kind::clip: return step_kind::clip;
      case post_op_kind::linear: return step_kind::linear;
      case post_op_kind::sigmoid: return step_kind::sigmoid;
      case post_op_kind::tanh: return step_kind::tanh;
      case post_op_kind::hard_sigmoid: return step_kind::hard_sigmoid;
      case post_op_kind::hard_swish: return step_kind::hard_swish;
      case post_op_kind::silu: return step_kind::silu;
      case post_op_kind::gelu_erf: return step_kind::gelu_erf;
      case post_op_kind::gelu_tanh: return step_kind::gelu_tanh;
      case post_op_kind::add: return step_kind::add;
      case post_op_kind::multiply: return step_kind::multiply;
    }
    return step_kind::copy;
  };
  return {kind_of(fused.kind), fused.alpha, fused.beta};
}

void run_step(const step& what, const float* x, const float* operand, bool repeated, float* y,
              std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(run)(what, x, operand, repeated, y, count);
}

const char* vector_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

} // namespace troupe::cpu
#endif
