#pragma once

#include "kernels/cpu/onednn.hpp"

#include <optional>

namespace troupe::cpu::onednn {

/// A matrix product left x right (+ bias) with post-ops, as MatMul, Gemm and pointwise convolutions
/// share it. All descriptions have the same rank; leading axes are a broadcast batch.
struct product {
  memory_desc left;
  memory_desc right; ///< as the model has it
  memory_desc out;
  std::size_t left_input = 0;
  std::size_t right_input = 1;
  std::shared_ptr<const tensor> constant; ///< of the right-hand side, if it is one: packed once
  std::optional<binding> bias;            ///< one row
  dnnl::post_ops first;                   ///< applied before those of the spec
  std::vector<binding> first_operands;
  place_operand place = beside_columns;
};

/// Declines where oneDNN has only its generic code, and its plain matrix product unless `gemm_too`.
[[nodiscard]] made_kernel make_product(const kernel_spec& spec, weight_cache& weights,
                                       product wanted, bool gemm_too);

} // namespace troupe::cpu::onednn
