#pragma once

#include "kernels/cpu/fused_steps.hpp"

#include <cstdint>

namespace troupe::cpu::gates {

/// Squeeze-and-excite on channels-last images: what a launch needs beside its tensors. Channels are
/// padded to whole vectors, with weights of zero.
struct form {
  std::int64_t images = 0;
  std::int64_t positions = 0;
  std::int64_t channels = 0;
  std::int64_t squeezed = 0; ///< values between the two products
  fused_steps squeeze;
  fused_steps excite;
  fused_steps after; ///< behind the product with x

  [[nodiscard]] std::int64_t padded_channels() const;
  /// Floats after which channels and vectors begin together again, few or many times.
  [[nodiscard]] std::int64_t period() const;
  [[nodiscard]] std::int64_t packed_squeeze() const; ///< floats of the first matrix once packed
  [[nodiscard]] std::int64_t packed_excite() const;  ///< of the second
  /// Floats of `compute_gates`' workspace.
  [[nodiscard]] std::int64_t workspace() const;
};

/// Floats in a vector of the instruction set in use.
[[nodiscard]] std::int64_t vector_lanes();
/// Vectors that are computed together.
inline constexpr std::int64_t block_vectors = 4;

/// From [squeezed, channels] and [channels, squeezed].
void pack_squeeze(const form& of, const float* from, float* to);
void pack_excite(const form& of, const float* from, float* to);

struct weights {
  const float* squeeze = nullptr;
  const float* squeeze_bias = nullptr; ///< may be null
  const float* excite = nullptr;
  const float* excite_bias = nullptr; ///< may be null
};

/// `sums`: of x over the positions of one image, padded_channels() of them, changed on the way.
/// `repeated`: period() floats, the gates over and over.
void compute_gates(const form& of, const weights& with, float* sums, float* workspace,
                   float* repeated);

/// y = x * gates and the steps behind, for the elements [begin, end) of one image; `begin` is a
/// multiple of period(). Operands are those of the image; y may be x or an operand.
void apply_gates(const form& of, const float* x, const float* repeated,
                 const std::array<const float*, fused_steps::limit>& operands, std::int64_t begin,
                 std::int64_t end, float* y);

} // namespace troupe::cpu::gates
