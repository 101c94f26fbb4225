// Two dequantised tensors, added and quantised, with a Relu or Clip in between or none, become one
// operator "QLinearAdd" of the domain "troupe": one sweep over bytes instead of four over real
// numbers. Results may round to the neighbouring integer.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/match.hpp"
#include "runtime/passes/qdq.hpp"

namespace troupe::passes {

namespace {

std::optional<node> byte_sum(const rewriter& in, const node& quantizing) {
  const auto result = quantized(in, quantizing);
  const auto* sum = result ? in.plain_producer(result->real, "Add") : nullptr;
  if (sum == nullptr || !same_dims(in.on(), sum->inputs[0], sum->inputs[1]))
    return std::nullopt;
  const auto left = dequantized(in, sum->inputs[0]);
  const auto right = dequantized(in, sum->inputs[1]);
  if (!left || !right)
    return std::nullopt;
  node made;
  made.name = sum->name;
  made.domain = "troupe";
  made.op_type = "QLinearAdd";
  made.version = 1;
  for (const auto* side : {&*left, &*right})
    made.inputs.insert(made.inputs.end(), {side->bytes, side->means.scale, side->means.zero_point});
  made.inputs.insert(made.inputs.end(), {result->means.scale, result->means.zero_point});
  set_bounds(made.attributes, *result);
  return made;
}

} // namespace

result<std::size_t> fold_qdq_sums(graph::graph& on, const pass_context& with) {
  if (with.on == nullptr)
    return 0;
  rewriter edit{on};
  return replace_quantizing(edit, [&](const node& of) { return byte_sum(edit, of); });
}

} // namespace troupe::passes
