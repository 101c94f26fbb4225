#pragma once

// What patterns between DequantizeLinear and QuantizeLinear are made of.

#include "kernels/op/byte_bounds.hpp"
#include "runtime/passes/rewriter.hpp"

#include <optional>

namespace troupe::passes {

/// Constant parameters that hold for a whole tensor of INT8 or UINT8.
struct byte_scale {
  value_id scale = no_value;
  value_id zero_point = no_value;
  dtype type = dtype::uint8; ///< of the zero point, and so of the tensor
  float by = 1.0F;           ///< positive, no denormal
  std::int32_t zero = 0;

  [[nodiscard]] bool means_the_same_as(const byte_scale& other) const noexcept {
    return type == other.type && by == other.by && zero == other.zero;
  }
};

/// Those of a DequantizeLinear or QuantizeLinear between FP32 and bytes.
[[nodiscard]] std::optional<byte_scale> byte_scale_of(const graph::graph& of, const node& scaling);

/// A real tensor that is dequantised bytes.
struct real_bytes {
  value_id bytes = no_value;
  byte_scale means;
};
[[nodiscard]] std::optional<real_bytes> dequantized(const rewriter& in, value_id of);

/// A QuantizeLinear and the Relu or Clip in front of it, if any. Rounding and clipping may change
/// places: the activation leaves less of the integers.
struct quantized_result {
  value_id real = no_value; ///< in front of both; read by this alone
  byte_scale means;
  byte_bounds within;
};
[[nodiscard]] std::optional<quantized_result> quantized(const rewriter& in, const node& quantizing);

/// Puts the bounds into the attributes of a node, where they leave something out.
void set_bounds(attribute_map& of, const quantized_result& result);

/// Calls `fold(QuantizeLinear)` for every one of the graph, puts the node it answers into its place
/// and counts how often.
template <class Fold>
std::size_t replace_quantizing(rewriter& edit, const Fold& fold) {
  std::size_t folded = 0;
  for (node_id id = 0; id < edit.on().nodes.size(); ++id) {
    const auto& of = edit.on().nodes[id];
    if (of.removed || !of.domain.empty() || of.op_type != "QuantizeLinear" || !of.post_ops.empty())
      continue;
    if (std::optional<node> made = fold(of)) {
      edit.replace_node(id, *std::move(made));
      ++folded;
    }
  }
  return folded;
}

} // namespace troupe::passes
