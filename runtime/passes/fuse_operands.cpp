// Add and Mul of two tensors become a step of the node that makes one of them: biases behind matrix
// products, residual connections, gates.

#include "runtime/passes/pass.hpp"

#include "runtime/graph/dim_math.hpp"
#include "runtime/passes/match.hpp"

#include <algorithm>

namespace troupe::passes {

namespace {

bool is_convolution(const node& of) {
  return of.op_type == "Conv" || of.op_type == "ConvTranspose";
}

// Convolutions have fast code for residuals and for constants of a channel each; an operand that is
// computed for each image and channel would throw them back on slow code.
bool suits(const graph::graph& on, const node& host, value_id x, value_id operand) {
  const auto& dims = on.values[x].dims;
  const auto& other = on.values[operand].dims;
  if (operand == x || !dims || !other || on.values[operand].type != dtype::float32
      || !graph::broadcasts_into(*other, *dims))
    return false;
  return !is_convolution(host) || on.is_constant(operand) || same_dims(on, x, operand);
}

struct choice {
  node_id host;
  value_id x;
  value_id operand;
};

// Of two possible hosts the later one: moving it down keeps the least alive for longer.
std::optional<choice> choose(const rewriter& edit, const node& of) {
  std::optional<choice> best;
  for (std::size_t side : {0U, 1U}) {
    const auto x = of.inputs[side];
    const auto operand = of.inputs[1 - side];
    const auto host = edit.host_of(x);
    if (!host || !suits(edit.on(), edit.on().nodes[*host], x, operand)
        || !same_dims(edit.on(), x, of.outputs.front()))
      continue;
    if (!best || *host > best->host)
      best = choice{*host, x, operand};
  }
  return best;
}

} // namespace

result<std::size_t> fuse_operands(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t fused = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (of.removed || !of.domain.empty() || (of.op_type != "Add" && of.op_type != "Mul"))
      continue;
    const auto kind = of.op_type == "Add" ? post_op_kind::add : post_op_kind::multiply;
    const auto chosen = choose(edit, of);
    if (!chosen)
      continue;
    edit.swallow(chosen->host, id, {post_op{kind}}, chosen->operand);
    ++fused;
  }
  return fused;
}

} // namespace troupe::passes
