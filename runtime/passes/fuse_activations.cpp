// Activation functions behind a node become steps of that node.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/match.hpp"

#include <array>

namespace troupe::passes {

namespace {

using step = std::optional<post_op>;

step relu(const graph::graph&, const node&) {
  return post_op{post_op_kind::relu};
}
step leaky_relu(const graph::graph&, const node& of) {
  return post_op{post_op_kind::leaky_relu, of.attributes.real("alpha", 0.01F)};
}
step clip(const graph::graph& on, const node& of) {
  const auto bounds = clip_bounds(on, of);
  return bounds ? step{post_op{post_op_kind::clip, bounds->first, bounds->second}} : std::nullopt;
}
step sigmoid(const graph::graph&, const node&) {
  return post_op{post_op_kind::sigmoid};
}
step hyperbolic_tangent(const graph::graph&, const node&) {
  return post_op{post_op_kind::tanh};
}
step hard_sigmoid(const graph::graph&, const node& of) {
  return post_op{post_op_kind::hard_sigmoid, of.attributes.real("alpha", 0.2F),
                 of.attributes.real("beta", 0.5F)};
}
step hard_swish(const graph::graph&, const node&) {
  return post_op{post_op_kind::hard_swish, 1.0F / 6.0F, 0.5F};
}
step gelu(const graph::graph&, const node& of) {
  const bool approximate = of.attributes.text("approximate", "none") == "tanh";
  return post_op{approximate ? post_op_kind::gelu_tanh : post_op_kind::gelu_erf};
}

struct entry {
  std::string_view op_type;
  step (*as_step)(const graph::graph&, const node&);
};

constexpr std::array table{
    entry{"Clip", clip},
    entry{"Gelu", gelu},
    entry{"HardSigmoid", hard_sigmoid},
    entry{"HardSwish", hard_swish},
    entry{"LeakyRelu", leaky_relu},
    entry{"Relu", relu},
    entry{"Sigmoid", sigmoid},
    entry{"Tanh", hyperbolic_tangent},
};

} // namespace

result<std::size_t> fuse_activations(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t fused = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (of.removed || !of.domain.empty())
      continue;
    for (const auto& known : table) {
      if (known.op_type != of.op_type)
        continue;
      const auto host = edit.host_of(of.inputs.front());
      const auto next = host ? known.as_step(on, of) : std::nullopt;
      if (next) {
        edit.swallow(*host, id, {*next});
        ++fused;
      }
      break;
    }
  }
  return fused;
}

} // namespace troupe::passes
