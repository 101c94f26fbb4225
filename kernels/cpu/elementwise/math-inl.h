// Functions that Highway 1.0.3 has not, or not fast enough. Included once per instruction set by
// the files that use them; no include guard of the usual kind, as Highway's own "-inl" headers.

#if defined(TROUPE_CPU_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_CPU_MATH_INL_H
#undef TROUPE_CPU_MATH_INL_H
#else
#define TROUPE_CPU_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Highway's Exp and Log are good to 3 units in the last place but leave infinities and NaN open.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  const V high = hn::Set(d, 88.72284F); // ln of the largest float
  const V value = hn::Exp(d, hn::Min(x, high));
  const V answer =
      hn::IfThenElse(hn::Gt(x, high), hn::Set(d, std::numeric_limits<float>::infinity()), value);
  return hn::IfThenElse(hn::Eq(x, x), answer, x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log(D d, V x) {
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const V zero = hn::Zero(d);
  V answer = hn::IfThenElse(hn::Eq(x, infinity), x, hn::Log(d, x));
  answer = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), answer);
  answer =
      hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), answer);
  return hn::IfThenElse(hn::Eq(x, x), answer, x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  // Beyond these bounds the answer is 0 or 1 in single precision; NaN passes through.
  const V low = hn::Set(d, -87.0F);
  const V bounded = hn::IfThenElse(hn::Lt(x, low), low, x);
  const V far = hn::Set(d, 30.0F);
  const V e = hn::Exp(d, hn::Neg(hn::IfThenElse(hn::Gt(bounded, far), far, bounded)));
  const V answer = hn::Div(one, hn::Add(one, e));
  return hn::IfThenElse(hn::Eq(x, x), answer, x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  const V bound = hn::Set(d, 10.0F); // tanh is 1 in single precision from 9.02 on
  V bounded = hn::IfThenElse(hn::Gt(x, bound), bound, x);
  bounded = hn::IfThenElse(hn::Lt(x, hn::Neg(bound)), hn::Neg(bound), bounded);
  return hn::IfThenElse(hn::Eq(x, x), hn::Tanh(d, bounded), x);
}

// erf(x) = x P(x^2) / Q(x^2) on [-4, 4], beyond which it is 1 in single precision. The coefficients
// are a least-squares rational fit of degrees 5 and 5, reweighted until the relative error levels
// out (the method of Lawson, 1961, on Chebyshev nodes): 2.5e-8 exact, 3.4e-7 evaluated in single
// precision.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V erf(D d, V x) {
  const V four = hn::Set(d, 4.0F);
  V bounded = hn::IfThenElse(hn::Gt(x, four), four, x);
  bounded = hn::IfThenElse(hn::Lt(x, hn::Neg(four)), hn::Neg(four), bounded);
  const V u = hn::Mul(bounded, bounded);
  V p = hn::Set(d, 1.9868048184434883e-06F);
  p = hn::MulAdd(p, u, hn::Set(d, 0.00028456110158003867F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.003883163444697857F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.05310118943452835F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.19354096055030823F));
  p = hn::MulAdd(p, u, hn::Set(d, 1.1283791065216064F));
  V q = hn::Set(d, 3.7420155422296375e-05F);
  q = hn::MulAdd(q, u, hn::Set(d, 0.001185525907203555F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.015206892043352127F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.11534829437732697F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.5048537850379944F));
  q = hn::MulAdd(q, u, hn::Set(d, 1.0F));
  const V answer = hn::Div(hn::Mul(bounded, p), q);
  return hn::IfThenElse(hn::Ge(hn::Abs(x), four), hn::CopySign(hn::Set(d, 1.0F), x), answer);
}

// 0.5 x (1 + erf(x / sqrt 2)): the ratio of erf above, with the factors in its coefficients.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu(D d, V x) {
  const V far = hn::Set(d, 5.65685425F); // 4 sqrt 2
  const V half = hn::Set(d, 0.5F);
  const V size = hn::Abs(x);
  const V bounded = hn::Min(size, far);
  const V u = hn::Mul(bounded, bounded);
  V p = hn::Set(d, 2.1951299444822325e-08F);
  p = hn::MulAdd(p, u, hn::Set(d, 6.2879712459107395e-06F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.00017161319556180388F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.004693526308983564F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.034213531762361526F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.3989422619342804F));
  V q = hn::Set(d, 1.1693798569467617e-06F);
  q = hn::MulAdd(q, u, hn::Set(d, 7.40953692002222e-05F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.0019008615054190159F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.02883707359433174F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.2524268925189972F));
  q = hn::MulAdd(q, u, hn::Set(d, 1.0F));
  const V curve = hn::Div(hn::Mul(bounded, p), q); // erf(|x| / sqrt 2) / 2
  return hn::MulAdd(size, hn::IfThenElse(hn::Ge(size, far), half, curve), hn::Mul(x, half));
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), where 0.5 (1 + tanh z) = sigmoid(2 z).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu_tanh(D d, V x) {
  const V cubic = hn::Mul(hn::Mul(x, x), hn::Mul(x, hn::Set(d, 0.044715F)));
  return hn::Mul(x, sigmoid(d, hn::Mul(hn::Set(d, 1.59576912F), hn::Add(x, cubic))));
}

} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
