#include "runtime/dynamic/part.hpp"

#include <utility>

namespace troupe::dynamic {

namespace {

class taker {
public:
  taker(const graph::graph& whole, std::span<const graph::fact> facts)
      : whole_{whole}, facts_{facts}, here_(whole.values.size(), graph::no_value) {
    made_.of.name = whole.name;
    made_.of.symbols = whole.symbols;
  }

  part take(std::span<const graph::node_id> nodes, const std::vector<bool>& wanted) {
    std::vector<bool> own(whole_.values.size(), false);
    for (auto id : nodes)
      for (auto output : whole_.nodes[id].outputs)
        if (output != graph::no_value)
          own[output] = true;
    for (auto id : nodes) {
      auto node = whole_.nodes[id];
      for (auto& input : node.inputs)
        input = read(input, own);
      std::vector<graph::value_id> outputs;
      for (auto output : node.outputs)
        outputs.push_back(output == graph::no_value ? output : add(output));
      for (auto output : whole_.nodes[id].outputs)
        if (output != graph::no_value && wanted[output]) {
          made_.outputs.push_back(output);
          made_.of.outputs.push_back(here_[output]);
        }
      node.outputs = std::move(outputs);
      made_.of.add_node(std::move(node));
    }
    return std::move(made_);
  }

private:
  graph::value_id add(graph::value_id id) {
    auto copy = whole_.values[id];
    copy.producer = graph::no_node;
    if (id < facts_.size() && !copy.type)
      copy.type = facts_[id].type;
    return here_[id] = made_.of.add_value(std::move(copy));
  }

  graph::value_id read(graph::value_id id, const std::vector<bool>& own) {
    if (id == graph::no_value || here_[id] != graph::no_value)
      return id == graph::no_value ? id : here_[id];
    add(id);
    auto& value = made_.of.values[here_[id]];
    if (!value.constant && id < facts_.size())
      value.constant = facts_[id].constant;
    if (value.constant) {
      value.type = value.constant->type;
      value.dims = graph::symbolic(value.constant->dims);
    } else if (!own[id]) {
      value.dims.reset(); // each plan knows better
      made_.inputs.push_back(id);
      made_.of.inputs.push_back(here_[id]);
    }
    return here_[id];
  }

  const graph::graph& whole_;
  std::span<const graph::fact> facts_;
  std::vector<graph::value_id> here_; // by value of the whole
  part made_;
};

} // namespace

part take_part(const graph::graph& whole, std::span<const graph::node_id> nodes,
               const std::vector<bool>& wanted, std::span<const graph::fact> facts) {
  return taker{whole, facts}.take(nodes, wanted);
}

void mark_inputs(const graph::node& of, std::vector<bool>& wanted) {
  for (auto input : of.inputs)
    if (input != graph::no_value)
      wanted[input] = true;
}

void mark_outputs(const graph::graph& of, std::vector<bool>& wanted) {
  for (auto output : of.outputs)
    wanted[output] = true;
}

} // namespace troupe::dynamic
