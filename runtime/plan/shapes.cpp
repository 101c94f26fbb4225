#include "runtime/plan/shapes.hpp"

#include "runtime/graph/evaluate.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace troupe::plan {
namespace {

/// Results of more elements are computed by steps: a plan's constants stay small.
constexpr std::int64_t max_evaluated_elements = 1 << 16;

std::string label(const graph::node& of) {
  return fmt::format("node '{}' ({})", of.name, of.op_type);
}

/// Marks the nodes that what the outputs need comes from; a value whose content is known needs
/// none.
std::vector<bool> needed_nodes(const graph::graph& of, const std::vector<graph::fact>* facts) {
  std::vector<bool> needed(of.nodes.size(), false);
  std::vector<graph::value_id> open;
  const auto visit = [&](graph::value_id id) {
    if (id == graph::no_value || (facts && (*facts)[id].constant))
      return;
    const auto producer = of.values[id].producer;
    if (producer == graph::no_node || needed[producer] || of.values[id].constant)
      return;
    needed[producer] = true;
    for (auto input : of.nodes[producer].inputs)
      open.push_back(input);
  };
  for (auto output : of.outputs)
    visit(output);
  while (!open.empty()) {
    const auto next = open.back();
    open.pop_back();
    visit(next);
  }
  return needed;
}

result<graph::fact> input_fact(const graph::graph& of, std::size_t index, const shape& dims,
                               std::map<std::uint32_t, std::int64_t>& symbols) {
  const auto& declared = of.values[of.inputs[index]];
  if (!declared.type)
    return fail(errc::invalid_argument, "input '{}' has no element type", declared.name);
  if (auto count = checked_element_count(dims); !count)
    return fail(errc::invalid_argument, "input '{}': {}", declared.name, count.error().text);
  if (declared.dims) {
    if (declared.dims->size() != dims.size())
      return fail(errc::invalid_argument, "input '{}' has {} dims, but {} came", declared.name,
                  declared.dims->size(), to_string(dims));
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const auto& expected = (*declared.dims)[axis];
      const auto known = expected.known()
                             ? expected.size()
                             : symbols.emplace(expected.symbol(), dims[axis]).first->second;
      if (known != dims[axis])
        return fail(errc::invalid_argument, "input '{}': axis {} must be {}, but {} came",
                    declared.name, axis, known, to_string(dims));
    }
  }
  return graph::fact{.present = true, .type = declared.type, .dims = graph::symbolic(dims)};
}

/// Whether the node's results are small, and known once it is run on its known inputs.
bool worth_evaluating(std::span<const graph::fact> inputs, std::span<const graph::fact> outputs) {
  if (!std::ranges::all_of(inputs,
                           [](const auto& input) { return !input.present || input.constant; }))
    return false;
  return std::ranges::all_of(outputs, [](const graph::fact& output) {
    const auto dims = output.present ? graph::concrete(*output.dims) : std::nullopt;
    return !output.present || (dims && element_count(*dims) <= max_evaluated_elements);
  });
}

/// Contents beyond what inference itself finds behind Shape.
result<void> learn_contents(const graph::node& of, std::span<const graph::fact> inputs,
                            std::vector<graph::fact>& outputs, device& on) {
  const auto settled = [](const auto& output) { return !output.present || output.constant; };
  if (std::ranges::all_of(outputs, settled) || !worth_evaluating(inputs, outputs))
    return {};
  std::vector<graph::constant_ptr> contents;
  for (const auto& input : inputs)
    contents.push_back(input.constant);
  auto made = graph::evaluate(of, contents, on);
  if (!made)
    return made.error().code == errc::unimplemented ? result<void>{} : propagate(made);
  for (std::size_t index = 0; index < outputs.size() && index < made->size(); ++index)
    if ((*made)[index])
      outputs[index].constant = (*made)[index];
  return {};
}

result<void> check_concrete(const graph::graph& of, const graph::node& which,
                            std::span<const graph::fact> outputs) {
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    const auto& output = outputs[index];
    if (which.outputs[index] == graph::no_value)
      continue;
    const auto& name = of.values[which.outputs[index]].name;
    if (!output.type)
      return fail(errc::internal, "{}: the type of output '{}' is not known", label(which), name);
    if (!output.dims || !graph::concrete(*output.dims))
      return fail(errc::unimplemented,
                  "{}: the shape of output '{}' depends on data, which plans do not support",
                  label(which), name);
    if (auto count = checked_element_count(*graph::concrete(*output.dims)); !count)
      return fail(errc::invalid_argument, "{}: output '{}': {}", label(which), name,
                  count.error().text);
  }
  return {};
}

} // namespace

result<known_values> find_shapes(const graph::graph& of, std::span<const shape> inputs, device& on,
                                 std::vector<bool>* open) {
  if (inputs.size() != of.inputs.size())
    return fail(errc::invalid_argument, "the model has {} inputs, but shapes of {} came",
                of.inputs.size(), inputs.size());
  known_values made;
  auto& facts = made.facts;
  facts.resize(of.values.size());
  for (graph::value_id id = 0; id < of.values.size(); ++id)
    if (of.values[id].constant)
      facts[id] = graph::fact_of(of.values[id]);
  std::map<std::uint32_t, std::int64_t> symbols;
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    auto fact = input_fact(of, index, inputs[index], symbols);
    if (!fact)
      return propagate(fact);
    facts[of.inputs[index]] = *fact;
  }

  if (open)
    open->assign(of.nodes.size(), false);
  const auto follows_open = [&](const graph::node& node) {
    return open && std::ranges::any_of(node.inputs, [&](graph::value_id id) {
             return id != graph::no_value && !facts[id].present;
           });
  };
  const auto needed = needed_nodes(of, nullptr);
  graph::graph scratch; // symbols that turn up on the way are of no interest to anybody
  std::vector<graph::fact> node_inputs;
  for (graph::node_id id = 0; id < of.nodes.size(); ++id) {
    const auto& node = of.nodes[id];
    if (!needed[id] || node.removed)
      continue;
    if (follows_open(node)) {
      (*open)[id] = true;
      continue;
    }
    node_inputs.clear();
    for (auto input : node.inputs)
      node_inputs.push_back(input == graph::no_value ? graph::fact{} : facts[input]);
    auto outputs = graph::infer(node, node_inputs, scratch);
    if (!outputs)
      return propagate(outputs);
    outputs->resize(node.outputs.size());
    if (auto known = check_concrete(of, node, *outputs); !known) {
      if (!open || known.error().code != errc::unimplemented)
        return propagate(known);
      (*open)[id] = true;
      continue;
    }
    if (auto learned = learn_contents(node, node_inputs, *outputs, on); !learned)
      return propagate(learned);
    for (std::size_t index = 0; index < node.outputs.size(); ++index)
      if (node.outputs[index] != graph::no_value) {
        facts[node.outputs[index]] = std::move((*outputs)[index]);
        facts[node.outputs[index]].present = true;
      }
  }
  made.runs = needed_nodes(of, &facts);
  return made;
}

} // namespace troupe::plan
