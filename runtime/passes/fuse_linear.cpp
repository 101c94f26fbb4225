// Sums and products with a constant number become linear steps; neighbours become one.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/match.hpp"

#include <array>

namespace troupe::passes {

namespace {

std::optional<post_op> linear_step(const with_scalar& found, std::string_view op_type) {
  const auto make = [](float scale, float shift) {
    return post_op{post_op_kind::linear, scale, shift};
  };
  if (op_type == "Mul")
    return make(found.number, 0.0F);
  if (op_type == "Add")
    return make(1.0F, found.number);
  if (op_type == "Sub")
    return found.scalar_first ? make(-1.0F, found.number) : make(1.0F, -found.number);
  if (op_type == "Div" && !found.scalar_first && found.number != 0.0F)
    return make(static_cast<float>(1.0 / found.number), 0.0F);
  return std::nullopt;
}

// second(first(x)) as one step.
post_op joined(const post_op& first, const post_op& second) {
  return {post_op_kind::linear, static_cast<float>(double{first.alpha} * second.alpha),
          static_cast<float>(double{first.beta} * second.alpha + second.beta)};
}

std::size_t join_neighbours(node& of) {
  std::size_t joins = 0;
  for (std::size_t at = 1; at < of.post_ops.size();) {
    auto& first = of.post_ops[at - 1];
    const auto& second = of.post_ops[at];
    if (first.kind != post_op_kind::linear || second.kind != post_op_kind::linear) {
      ++at;
      continue;
    }
    first = joined(first, second);
    of.post_ops.erase(of.post_ops.begin() + static_cast<std::ptrdiff_t>(at));
    ++joins;
  }
  return joins;
}

} // namespace

result<std::size_t> fuse_linear(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t fused = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    auto& of = on.nodes[id];
    if (of.removed || !of.domain.empty())
      continue;
    const auto found = match_scalar(on, of);
    const auto host = found ? edit.host_of(found->x) : std::nullopt;
    const auto step = host ? linear_step(*found, of.op_type) : std::nullopt;
    if (step) {
      edit.swallow(*host, id, {*step});
      ++fused;
    }
    fused += join_neighbours(on.nodes[id]);
  }
  return fused;
}

} // namespace troupe::passes
