// Applies fused_steps to a vector. Included once per instruction set by the Highway kernels.

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

/// `value` after all steps. `offset` is the element's place in the output and thus in residuals.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V apply_steps(D d, const fused_steps& fused,
                         const std::array<const float*, fused_steps::limit>& operands,
                         std::int64_t offset, V value) {
  for (std::size_t i = 0; i < fused.count; ++i) {
    const auto& step = fused.steps[i];
    const V alpha = hn::Set(d, step.alpha);
    const V beta = hn::Set(d, step.beta);
    const V zero = hn::Zero(d);
    const auto gate = [&]() HWY_ATTR {
      return hn::Min(hn::Max(hn::MulAdd(value, alpha, beta), zero), hn::Set(d, 1.0F));
    };
    switch (step.kind) {
      case post_op_kind::relu: value = hn::Max(value, zero); break;
      case post_op_kind::leaky_relu:
        value = hn::MulAdd(alpha, hn::Min(value, zero), hn::Max(value, zero));
        break;
      case post_op_kind::clip: value = hn::Min(hn::Max(value, alpha), beta); break;
      case post_op_kind::linear: value = hn::MulAdd(value, alpha, beta); break;
      case post_op_kind::hard_sigmoid: value = gate(); break;
      case post_op_kind::hard_swish: value = hn::Mul(value, gate()); break;
      case post_op_kind::add: value = hn::Add(value, hn::LoadU(d, operands[i] + offset)); break;
      default: break;
    }
  }
  return value;
}

} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
