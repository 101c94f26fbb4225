// x * Sigmoid(x) and x * HardSigmoid(x), whose x is read twice, become one step of the node that
// makes x.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/match.hpp"

namespace troupe::passes {

namespace {

std::optional<post_op> gate_step(const node& gate) {
  if (gate.op_type == "Sigmoid")
    return post_op{post_op_kind::silu};
  if (gate.op_type == "HardSigmoid")
    return post_op{post_op_kind::hard_swish, gate.attributes.real("alpha", 0.2F),
                   gate.attributes.real("beta", 0.5F)};
  return std::nullopt;
}

} // namespace

result<std::size_t> fuse_silu(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t fused = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (of.removed || !of.domain.empty() || of.op_type != "Mul")
      continue;
    for (std::size_t side : {1U, 0U}) {
      const auto gated = of.inputs[side];
      const auto x = of.inputs[1 - side];
      const auto* gate = edit.plain_producer(gated);
      const auto step = gate != nullptr ? gate_step(*gate) : std::nullopt;
      if (!step || gate->inputs.front() != x || edit.uses(gated) != 1)
        continue;
      const auto host = edit.host_of(x, 2);
      if (!host)
        continue;
      edit.remove_node(on.values[gated].producer);
      edit.swallow(*host, id, {*step});
      ++fused;
      break;
    }
  }
  return fused;
}

} // namespace troupe::passes
