#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// What may be fused behind a kernel, applied to each element of its first output in order.
enum class post_op_kind : std::uint8_t {
  relu,
  leaky_relu,   ///< x < 0 ? alpha * x : x
  clip,         ///< min(max(x, alpha), beta)
  linear,       ///< alpha * x + beta
  sigmoid,      ///< 1 / (1 + exp(-x))
  tanh,         ///<
  hard_sigmoid, ///< max(0, min(1, alpha * x + beta))
  hard_swish,   ///< x * max(0, min(1, alpha * x + beta))
  silu,         ///< x * sigmoid(x)
  gelu_erf,     ///< 0.5 x (1 + erf(x / sqrt 2))
  gelu_tanh,    ///< the tanh approximation
  add,          ///< x + operand, broadcast as ONNX's Add
  multiply,     ///< x * operand, broadcast as ONNX's Mul
};

/// One fused step. `operand` is the index, in the kernel's inputs, of the other tensor of `add` and
/// `multiply`; it stands behind the operator's own inputs.
struct post_op {
  post_op_kind kind = post_op_kind::relu;
  float alpha = 0.0F;
  float beta = 0.0F;
  std::size_t operand = 0;

  friend bool operator==(const post_op&, const post_op&) = default;
};

} // namespace troupe
