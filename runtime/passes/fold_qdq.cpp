// A matrix product between DequantizeLinear and QuantizeLinear becomes QLinearMatMul: the product
// of the integers, scaled once. It is what the three mean, rounded once less. Only where the device
// multiplies bytes faster than real numbers, and only weights that stay constant; everything else
// is left to float32, whose weights fold_constants dequantises beforehand.

#include "runtime/passes/pass.hpp"

#include "kernels/cpu/quantized_kernels.hpp"
#include "runtime/passes/rewriter.hpp"

#include <algorithm>

namespace troupe::passes {

namespace {

bool is_byte(std::optional<dtype> type) {
  return type == dtype::int8 || type == dtype::uint8;
}

// Tensor, scale and zero point of a DequantizeLinear or QuantizeLinear whose parameters are
// constant FP32 and 8-bit numbers, one or (along the last axis of `columns`) one for each column.
bool has_plain_parameters(const graph::graph& of, const node& scaling, std::int64_t columns) {
  if (scaling.inputs.size() != 3 || scaling.attributes.integer("block_size", 0) != 0)
    return false;
  const auto& scale = of.values[scaling.inputs[1]].constant;
  const auto& zero = of.values[scaling.inputs[2]].constant;
  if (!scale || !zero || scale->type != dtype::float32 || !is_byte(zero->type))
    return false;
  const auto count = element_count(scale->dims);
  if (count != element_count(zero->dims) || (count != 1 && count != columns))
    return false;
  const auto axis = scaling.attributes.integer("axis", 1);
  return count == 1 || axis == 1 || axis == -1;
}

const node* dequantized(const rewriter& in, value_id of, std::int64_t columns) {
  const auto* made = in.plain_producer(of, "DequantizeLinear");
  return made != nullptr && has_plain_parameters(in.on(), *made, columns) ? made : nullptr;
}

// The QLinearMatMul that `quantizing` behind a MatMul stands for.
std::optional<node> integer_product(const rewriter& in, const node& quantizing) {
  const auto& on = in.on();
  if (!has_plain_parameters(on, quantizing, 1))
    return std::nullopt;
  const auto* product = in.plain_producer(quantizing.inputs[0], "MatMul");
  if (product == nullptr || in.uses(quantizing.inputs[0]) != 1)
    return std::nullopt;
  const auto* left = dequantized(in, product->inputs[0], 1);
  const auto* right = in.plain_producer(product->inputs[1], "DequantizeLinear");
  if (left == nullptr || right == nullptr || !on.is_constant(right->inputs[0]))
    return std::nullopt;
  const auto& weight = *on.values[right->inputs[0]].constant;
  if (weight.type != dtype::int8 || weight.dims.size() != 2
      || !has_plain_parameters(on, *right, weight.dims[1]))
    return std::nullopt;
  node made;
  made.name = product->name;
  made.op_type = "QLinearMatMul";
  made.version = 21;
  for (const auto* side : {left, right})
    made.inputs.insert(made.inputs.end(), side->inputs.begin(), side->inputs.end());
  made.inputs.insert(made.inputs.end(), {quantizing.inputs[1], quantizing.inputs[2]});
  made.outputs = quantizing.outputs;
  return made;
}

} // namespace

result<std::size_t> fold_qdq(graph::graph& on, const pass_context& with) {
  if (with.on == nullptr || !cpu::multiplies_bytes_fast())
    return 0;
  rewriter edit{on};
  std::size_t folded = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (of.removed || !of.domain.empty() || of.op_type != "QuantizeLinear" || !of.post_ops.empty())
      continue;
    if (auto made = integer_product(edit, of)) {
      edit.replace_node(id, *std::move(made));
      ++folded;
    }
  }
  return folded;
}

} // namespace troupe::passes
