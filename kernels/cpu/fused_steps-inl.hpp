// Applies fused_steps to a vector. Included once per instruction set by the Highway kernels.

#include "kernels/cpu/elementwise/math-inl.h"
#include "kernels/cpu/fused_steps.hpp"

#include <hwy/highway.h>

#if defined(TROUPE_FUSED_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_FUSED_STEPS_INL
#undef TROUPE_FUSED_STEPS_INL
#else
#define TROUPE_FUSED_STEPS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Activations that cost far more than a call; several at a time, so that one waits for others.
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE void apply_activation(D d, post_op_kind kind, V* values, int count) {
  const auto each = [&](const auto& of) HWY_ATTR {
    for (int i = 0; i < count; ++i)
      values[i] = of(values[i]);
  };
  switch (kind) {
    case post_op_kind::sigmoid: each([&](V x) HWY_ATTR { return sigmoid(d, x); }); break;
    case post_op_kind::tanh: each([&](V x) HWY_ATTR { return tanh(d, x); }); break;
    case post_op_kind::silu: each([&](V x) HWY_ATTR { return hn::Mul(x, sigmoid(d, x)); }); break;
    case post_op_kind::gelu_erf: each([&](V x) HWY_ATTR { return gelu(d, x); }); break;
    case post_op_kind::gelu_tanh: each([&](V x) HWY_ATTR { return gelu_tanh(d, x); }); break;
    default: break;
  }
}

/// Applies all steps to `Count` vectors. Vector i belongs `offset + i * stride` elements into the
/// output and thus into residuals.
template <int Count, class D, class V = hn::Vec<D>>
HWY_INLINE void apply_steps(D d, const fused_steps& fused,
                            const std::array<const float*, fused_steps::limit>& operands,
                            std::int64_t offset, std::int64_t stride, V (&values)[Count]) {
  const auto each = [&](const auto& change) HWY_ATTR {
    HWY_UNROLL(8)
    for (int i = 0; i < Count; ++i)
      values[i] = change(values[i], i);
  };
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1.0F);
  for (std::size_t step = 0; step < fused.count; ++step) {
    const V alpha = hn::Set(d, fused.steps[step].alpha);
    const V beta = hn::Set(d, fused.steps[step].beta);
    const auto gate = [&](V x) HWY_ATTR {
      return hn::Min(hn::Max(hn::MulAdd(x, alpha, beta), zero), one);
    };
    switch (fused.steps[step].kind) {
      case post_op_kind::relu: each([&](V x, int) HWY_ATTR { return hn::Max(x, zero); }); break;
      case post_op_kind::leaky_relu:
        each([&](V x, int)
                 HWY_ATTR { return hn::MulAdd(alpha, hn::Min(x, zero), hn::Max(x, zero)); });
        break;
      case post_op_kind::clip:
        each([&](V x, int) HWY_ATTR { return hn::Min(hn::Max(x, alpha), beta); });
        break;
      case post_op_kind::linear:
        each([&](V x, int) HWY_ATTR { return hn::MulAdd(x, alpha, beta); });
        break;
      case post_op_kind::hard_sigmoid: each([&](V x, int) HWY_ATTR { return gate(x); }); break;
      case post_op_kind::hard_swish:
        each([&](V x, int) HWY_ATTR { return hn::Mul(x, gate(x)); });
        break;
      case post_op_kind::add:
        each([&](V x, int i) HWY_ATTR {
          return hn::Add(x, hn::LoadU(d, operands[step] + offset + i * stride));
        });
        break;
      default: apply_activation(d, fused.steps[step].kind, values, Count); break;
    }
  }
}

} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
