#include "runtime/dynamic/data_shapes.hpp"

#include "runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe::dynamic {

namespace {

/// Sizes that no formula leads to, made since there were `before` symbols.
bool has_fresh_sizes(const graph::fact& of, const graph::graph& symbols, std::size_t before) {
  if (!of.present)
    return false;
  return !of.dims || std::ranges::any_of(*of.dims, [&](graph::dim size) {
    return !size.known() && size.symbol() >= before && symbols.origins(size.symbol()) == nullptr;
  });
}

/// Sizes, axes and the like are scalars or lists.
bool may_say_sizes(const graph::fact& of) {
  return of.present && (!of.dims || of.dims->size() <= 1);
}

} // namespace

bool has_data_shapes(const graph::graph& of) {
  graph::graph scratch;
  scratch.symbols = of.symbols;
  std::vector<graph::fact> facts(of.values.size());
  std::vector<bool> from_shapes(of.values.size(), false);
  for (graph::value_id id = 0; id < of.values.size(); ++id) {
    if (of.values[id].producer == graph::no_node)
      facts[id] = graph::fact_of(of.values[id]);
    from_shapes[id] = of.values[id].constant != nullptr;
  }
  for (const auto& node : of.nodes) {
    if (node.removed)
      continue;
    std::vector<graph::fact> inputs;
    bool known = true;
    bool says_sizes = false;
    for (auto id : node.inputs) {
      inputs.push_back(id == graph::no_value ? graph::fact{} : facts[id]);
      if (id == graph::no_value)
        continue;
      known = known && from_shapes[id];
      says_sizes = says_sizes || (!from_shapes[id] && may_say_sizes(facts[id]));
    }
    const auto before = scratch.symbols.size();
    auto outputs = graph::infer(node, inputs, scratch);
    if (!outputs)
      return false; // a plan will say what is wrong
    const bool shapes = node.op_type == "Shape" || node.op_type == "Size" || known;
    for (std::size_t index = 0; index < node.outputs.size(); ++index) {
      if (node.outputs[index] == graph::no_value)
        continue;
      if (says_sizes && has_fresh_sizes((*outputs)[index], scratch, before))
        return true;
      facts[node.outputs[index]] = std::move((*outputs)[index]);
      from_shapes[node.outputs[index]] = shapes;
    }
  }
  return false;
}

} // namespace troupe::dynamic
