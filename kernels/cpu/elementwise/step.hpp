#pragma once

#include "kernels/op/post_op.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace troupe::cpu {

/// What one step of an element-wise program does to x. `o` is the step's operand.
enum class step_kind : std::uint8_t {
  copy,
  relu,
  leaky_relu,
  clip,
  linear,
  sigmoid,
  tanh,
  hard_sigmoid,
  hard_swish,
  silu,
  gelu_erf,
  gelu_tanh,
  elu,
  erf,
  exp,
  log,
  sqrt,
  square,
  neg,
  abs,
  floor,
  ceil,
  round,
  reciprocal,
  add,           ///< x + o
  multiply,      ///< x * o
  subtract,      ///< x - o
  subtract_from, ///< o - x
  divide,        ///< x / o
  divide_into,   ///< o / x
  minimum,
  maximum,
};

[[nodiscard]] constexpr bool takes_operand(step_kind kind) noexcept {
  return kind >= step_kind::add;
}

/// One step; `alpha` and `beta` as in post_op.
struct step {
  step_kind kind = step_kind::copy;
  float alpha = 0.0F;
  float beta = 0.0F;
};

[[nodiscard]] step step_of(const post_op& fused) noexcept;

/// Applies `what` to `count` floats at `x` and writes them to `y`, which is `x` or does not overlap
/// it. The operand is `count` floats, or one where `repeated`. Errors against exact arithmetic stay
/// below 1e-6 relative for every step (tanh 2e-6, exp at large arguments 1e-6).
void run_step(const step& what, const float* x, const float* operand, bool repeated, float* y,
              std::size_t count) noexcept;

/// The instruction set the vector code was dispatched to, such as "AVX3".
[[nodiscard]] const char* vector_target() noexcept;

} // namespace troupe::cpu
