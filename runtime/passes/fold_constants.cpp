// Nodes whose outputs follow from constants, or from dims alone (Shape and the arithmetic behind
// it), become constants.

#include "runtime/passes/pass.hpp"

#include "runtime/graph/evaluate.hpp"
#include "runtime/graph/infer.hpp"
#include "runtime/passes/rewriter.hpp"

#include <algorithm>

namespace troupe::passes {

namespace {

// A constant larger than this and than what it is made from is cheaper made again for each run.
constexpr std::int64_t largest_growth = std::int64_t{1} << 20;

using facts = std::vector<graph::fact>;

facts gather(const facts& known, const node& of) {
  facts inputs;
  for (auto id : of.inputs)
    inputs.push_back(id == no_value ? graph::fact{} : known[id]);
  return inputs;
}

bool all_constant(const facts& inputs) {
  return std::ranges::all_of(inputs, [](const graph::fact& input) {
    return !input.present || (input.constant && input.type != dtype::string);
  });
}

bool grows_too_much(const facts& inputs, const facts& outputs) {
  std::int64_t before = largest_growth;
  for (const auto& input : inputs)
    if (input.constant)
      before = std::max(before, element_count(input.constant->dims));
  return std::ranges::any_of(outputs, [&](const graph::fact& output) {
    const auto dims = output.dims ? graph::concrete(*output.dims) : std::nullopt;
    return output.present && (!dims || element_count(*dims) > before);
  });
}

// What the device refuses (or fails on, as an index out of range) stays in the graph: the planner
// will say what is wrong where it matters.
void evaluate_into(facts& outputs, const node& of, const facts& inputs, device& on) {
  std::vector<graph::constant_ptr> constants;
  for (const auto& input : inputs)
    constants.push_back(input.constant);
  auto results = graph::evaluate(of, constants, on);
  if (!results)
    return;
  for (std::size_t index = 0; index < outputs.size(); ++index)
    outputs[index].constant = std::move((*results)[index]);
}

bool settled(const facts& outputs) {
  return std::ranges::all_of(
      outputs, [](const graph::fact& output) { return !output.present || output.constant; });
}

} // namespace

result<std::size_t> fold_constants(graph::graph& on, const pass_context& with) {
  std::size_t folded = 0;
  facts known;
  for (const auto& value : on.values)
    known.push_back(graph::fact_of(value));
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    auto& of = on.nodes[id];
    if (of.removed)
      continue;
    const auto inputs = gather(known, of);
    auto outputs = graph::infer(of, inputs, on);
    if (!outputs)
      return propagate(outputs);
    if (with.on != nullptr && !settled(*outputs) && all_constant(inputs) && !graph::draws_random(of)
        && !grows_too_much(inputs, *outputs))
      evaluate_into(*outputs, of, inputs, *with.on);
    const bool done = settled(*outputs);
    for (std::size_t index = 0; index < of.outputs.size(); ++index) {
      const auto output = of.outputs[index];
      if (output == no_value)
        continue;
      known[output] = std::move((*outputs)[index]);
      if (!done)
        continue;
      auto& value = on.values[output];
      value.constant = known[output].constant;
      value.type = value.constant->type;
      value.dims = graph::symbolic(value.constant->dims);
      value.producer = no_node;
    }
    if (done) {
      on.remove_node(id);
      ++folded;
    }
  }
  return folded;
}

} // namespace troupe::passes
