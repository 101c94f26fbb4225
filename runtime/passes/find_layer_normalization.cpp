// Layer normalisation as PyTorch and Paddle export it,
//
//     centred = x - ReduceMean(x)
//     y = centred / Sqrt(ReduceMean(centred ^ 2) + epsilon) * scale + bias
//
// becomes one LayerNormalization (operator set 17).

#include "runtime/passes/pass.hpp"

#include "runtime/graph/element.hpp"
#include "runtime/passes/match.hpp"

#include <algorithm>

namespace troupe::passes {

namespace {

struct found_norm {
  value_id x = no_value;
  std::int64_t axis = -1; ///< first normalised axis, counted from the back
  float epsilon = 0.0F;
  std::vector<node_id> inside; ///< nodes to remove beside the root
};

class matcher {
public:
  explicit matcher(const rewriter& edit) : edit_{edit}, on_{edit.on()} {}

  // The part up to the division, whose result `normalised` is.
  std::optional<found_norm> match(value_id normalised) {
    const auto* divide = edit_.plain_producer(normalised, "Div");
    if (divide == nullptr)
      return std::nullopt;
    const auto centred = divide->inputs[0];
    const auto* root = step(divide->inputs[1], "Sqrt");
    const auto* shifted = root == nullptr ? nullptr : step(root->inputs[0], "Add");
    const auto* subtract = edit_.plain_producer(centred, "Sub");
    if (shifted == nullptr || subtract == nullptr)
      return std::nullopt;
    const auto epsilon_side = scalar_in(on_, shifted->inputs[1]) ? 1U : 0U;
    const auto epsilon = scalar_in(on_, shifted->inputs[epsilon_side]);
    const auto* variance = step(shifted->inputs[1 - epsilon_side], "ReduceMean");
    const auto* mean = step(subtract->inputs[1], "ReduceMean");
    if (!epsilon || *epsilon < 0 || variance == nullptr || mean == nullptr
        || mean->inputs[0] != subtract->inputs[0] || !is_square(variance->inputs[0], centred))
      return std::nullopt;
    const auto axis = trailing_axis(*mean);
    if (!axis || trailing_axis(*variance) != axis || edit_.is_output(centred)
        || edit_.uses(centred) != reads_of_centred_)
      return std::nullopt;
    found_.inside.push_back(on_.values[centred].producer);
    found_.x = subtract->inputs[0];
    found_.axis = *axis;
    found_.epsilon = *epsilon;
    return found_;
  }

private:
  // A node of the pattern whose output nobody else reads.
  const node* step(value_id of, std::string_view op_type) {
    const auto* made_by = edit_.plain_producer(of, op_type);
    if (made_by == nullptr || edit_.uses(of) != 1)
      return nullptr;
    found_.inside.push_back(on_.values[of].producer);
    return made_by;
  }

  bool is_square(value_id of, value_id centred) {
    if (const auto* power = step(of, "Pow"); power != nullptr)
      return power->inputs[0] == centred && holds(on_, power->inputs[1], 2.0);
    const auto* product = step(of, "Mul");
    reads_of_centred_ = 3;
    return product != nullptr && product->inputs[0] == centred && product->inputs[1] == centred;
  }

  // Negative index of the first reduced axis, if the reduced axes are the last ones and stay as 1.
  std::optional<std::int64_t> trailing_axis(const node& reduce) const {
    const auto& dims = on_.values[reduce.inputs[0]].dims;
    auto axes = std::optional{reduce.attributes.integers("axes")};
    if (reduce.inputs.size() > 1 && on_.is_constant(reduce.inputs[1]))
      axes = graph::integers_of(*on_.values[reduce.inputs[1]].constant);
    if (!dims || !axes || axes->empty() || reduce.attributes.integer("keepdims", 1) == 0)
      return std::nullopt;
    const auto rank = static_cast<std::int64_t>(dims->size());
    for (auto& axis : *axes)
      axis = axis >= 0 ? axis - rank : axis;
    std::ranges::sort(*axes);
    for (std::size_t index = 0; index < axes->size(); ++index)
      if ((*axes)[index]
          != static_cast<std::int64_t>(index) - static_cast<std::int64_t>(axes->size()))
        return std::nullopt;
    return axes->front();
  }

  const rewriter& edit_;
  const graph::graph& on_;
  found_norm found_;
  std::size_t reads_of_centred_ = 2;
};

// Whether `of` has exactly the dims of the normalised axes.
bool covers(const graph::graph& on, value_id of, const found_norm& norm) {
  const auto& dims = on.values[of].dims;
  const auto& all = on.values[norm.x].dims;
  const auto count = static_cast<std::size_t>(-norm.axis);
  return dims && all && dims->size() == count && on.values[of].type == dtype::float32
         && std::equal(dims->begin(), dims->end(), all->end() - static_cast<std::ptrdiff_t>(count));
}

// `of`, if it is op(pattern, parameter) with a parameter over the normalised axes.
struct parameter {
  value_id inner = no_value;
  value_id content = no_value;
};
std::vector<parameter> parameters_of(const node& of, std::string_view op_type) {
  if (of.removed || !of.domain.empty() || of.op_type != op_type || of.inputs.size() < 2)
    return {};
  return {{of.inputs[0], of.inputs[1]}, {of.inputs[1], of.inputs[0]}};
}

void replace(rewriter& edit, node_id root, const found_norm& norm, value_id scale, value_id bias) {
  node made{.name = edit.on().nodes[root].name,
            .domain = "",
            .op_type = "LayerNormalization",
            .version = 17,
            .attributes = {},
            .inputs = {norm.x, scale},
            .outputs = {},
            .post_ops = {}};
  if (bias != no_value)
    made.inputs.push_back(bias);
  made.attributes.set("axis", norm.axis);
  made.attributes.set("epsilon", norm.epsilon);
  edit.replace_node(root, std::move(made));
  for (auto inside : norm.inside)
    edit.remove_node(inside);
}

// scale * normalised (+ bias), root first.
bool try_root(rewriter& edit, node_id root) {
  const auto& on = edit.on();
  const auto of = on.nodes[root];
  if (!of.post_ops.empty())
    return false;
  auto outer = parameters_of(of, "Add");
  if (outer.empty())
    outer = {{of.outputs.front(), no_value}}; // no bias: the root is the product itself
  for (const auto& [scaled, bias] : outer) {
    const auto* product = bias == no_value ? &of : edit.plain_producer(scaled, "Mul");
    if (product == nullptr || (bias != no_value && edit.uses(scaled) != 1))
      continue;
    for (const auto& [normalised, scale] : parameters_of(*product, "Mul")) {
      auto norm = matcher{edit}.match(normalised);
      if (!norm || edit.uses(normalised) != 1 || !covers(on, scale, *norm)
          || (bias != no_value && !covers(on, bias, *norm))
          || on.values[norm->x].type != dtype::float32)
        continue;
      norm->inside.push_back(on.values[normalised].producer);
      if (bias != no_value)
        norm->inside.push_back(on.values[scaled].producer);
      replace(edit, root, *norm, scale, bias);
      return true;
    }
  }
  return false;
}

} // namespace

result<std::size_t> find_layer_normalization(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t found = 0;
  // Longest pattern first: with the bias, then without.
  for (auto op_type : {"Add", "Mul"})
    for (node_id id = 0; id < on.nodes.size(); ++id)
      if (!on.nodes[id].removed && on.nodes[id].domain.empty() && on.nodes[id].op_type == op_type)
        found += try_root(edit, id) ? 1 : 0;
  return found;
}

} // namespace troupe::passes
