// Hard-swish, x * min(max(x / 6 + 1/2, 0), 1), as exporters without the operator write it: Paddle
// as x * Clip(x + 3, 0, 6) / 6 in any order, PyTorch as x * HardSigmoid(x) with slope 1/6. It
// becomes HardSwish (operator set 14), and a gate that stands alone becomes HardSigmoid.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/match.hpp"

#include <cmath>

namespace troupe::passes {

namespace {

constexpr double sixth = 1.0 / 6.0;

// x of Clip(x + 3, 0, 6), nobody else reading on the way.
std::optional<value_id> clipped(const rewriter& edit, value_id of) {
  const auto& on = edit.on();
  const auto* clip = edit.plain_producer(of, "Clip");
  if (clip == nullptr || edit.uses(of) != 1)
    return std::nullopt;
  const auto bounds = clip_bounds(on, *clip);
  const auto* add = edit.plain_producer(clip->inputs[0], "Add");
  if (!bounds || bounds->first != 0.0F || bounds->second != 6.0F || add == nullptr
      || edit.uses(clip->inputs[0]) != 1)
    return std::nullopt;
  const auto shifted = match_scalar(on, *add);
  return shifted && shifted->number == 3.0F ? std::optional{shifted->x} : std::nullopt;
}

// The value that `of` divides by six.
std::optional<value_id> divided_by_six(const graph::graph& on, const node& of) {
  const auto found = match_scalar(on, of);
  if (!found)
    return std::nullopt;
  const bool divided = of.op_type == "Div" && !found->scalar_first && found->number == 6.0F;
  const bool multiplied = of.op_type == "Mul" && std::abs(found->number - sixth) < 1e-7;
  return divided || multiplied ? std::optional{found->x} : std::nullopt;
}

bool is_standard_gate(const node& of) {
  return of.op_type == "HardSigmoid" && std::abs(of.attributes.real("alpha", 0.2F) - sixth) < 1e-7
         && of.attributes.real("beta", 0.5F) == 0.5F;
}

// x of x * Clip(x + 3, 0, 6).
std::optional<value_id> product_with_clip(const rewriter& edit, value_id of) {
  const auto* product = edit.plain_producer(of, "Mul");
  if (product == nullptr || edit.uses(of) != 1)
    return std::nullopt;
  for (std::size_t side : {1U, 0U})
    if (const auto x = clipped(edit, product->inputs[side]); x && *x == product->inputs[1 - side])
      return x;
  return std::nullopt;
}

node make(const node& from, std::string_view op_type, int version, value_id x) {
  return {.name = from.name,
          .domain = "",
          .op_type = std::string{op_type},
          .version = version,
          .attributes = {},
          .inputs = {x},
          .outputs = {},
          .post_ops = {}};
}

bool rewrite_gate(rewriter& edit, node_id id) {
  const auto& on = edit.on();
  const auto inner = divided_by_six(on, on.nodes[id]);
  if (!inner)
    return false;
  if (const auto x = product_with_clip(edit, *inner)) {
    edit.replace_node(id, make(on.nodes[id], "HardSwish", 14, *x));
    return true;
  }
  if (const auto x = clipped(edit, *inner)) {
    auto gate = make(on.nodes[id], "HardSigmoid", 6, *x);
    gate.attributes.set("alpha", static_cast<float>(sixth));
    gate.attributes.set("beta", 0.5F);
    edit.replace_node(id, std::move(gate));
    return true;
  }
  return false;
}

bool rewrite_product(rewriter& edit, node_id id) {
  const auto& of = edit.on().nodes[id];
  if (of.op_type != "Mul")
    return false;
  for (std::size_t side : {1U, 0U}) {
    const auto* gate = edit.plain_producer(of.inputs[side], "HardSigmoid");
    if (gate == nullptr || !is_standard_gate(*gate) || gate->inputs[0] != of.inputs[1 - side]
        || edit.uses(of.inputs[side]) != 1)
      continue;
    edit.replace_node(id, make(of, "HardSwish", 14, of.inputs[1 - side]));
    return true;
  }
  return false;
}

} // namespace

// What is no longer read is left to remove_dead_nodes.
result<std::size_t> find_hard_swish(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t found = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    const bool plain = !of.removed && of.domain.empty() && of.post_ops.empty();
    if (plain && of.outputs.front() != no_value
        && on.values[of.outputs.front()].type == dtype::float32)
      found += rewrite_gate(edit, id) || rewrite_product(edit, id) ? 1 : 0;
  }
  return found;
}

} // namespace troupe::passes
