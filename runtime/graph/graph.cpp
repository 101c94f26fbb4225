#include "runtime/graph/graph.hpp"

#include <algorithm>
#include <utility>

namespace troupe::graph {

value_id graph::add_value(value made) {
  values.push_back(std::move(made));
  return static_cast<value_id>(values.size() - 1);
}

node_id graph::add_node(node made) {
  return insert_node(static_cast<node_id>(nodes.size()), std::move(made));
}

node_id graph::insert_node(node_id position, node made) {
  nodes.insert(nodes.begin() + position, std::move(made));
  for (auto id = position; id < nodes.size(); ++id)
    if (!nodes[id].removed)
      for (auto output : nodes[id].outputs)
        if (output != no_value)
          values[output].producer = id;
  return position;
}

dim graph::fresh_dim(std::string label) {
  symbols.push_back(std::move(label));
  return dim::symbol(static_cast<std::uint32_t>(symbols.size() - 1));
}

dim graph::derived_dim(const std::string& key, std::string label, std::span<const dim> of) {
  constexpr std::size_t longest_label = 64; // formulas of formulas: people stop reading before that
  if (label.size() > longest_label)
    label.clear();
  const auto known = derived_.find(key);
  if (known != derived_.end())
    return known->second;
  const auto made = derived_.emplace(key, fresh_dim(std::move(label))).first->second;
  auto& origins = origins_[made.symbol()];
  for (const auto& part : of)
    if (!part.known())
      origins.push_back(part.symbol());
  return made;
}

const std::vector<std::uint32_t>* graph::origins(std::uint32_t symbol) const {
  const auto known = origins_.find(symbol);
  return known == origins_.end() ? nullptr : &known->second;
}

void graph::note_product(dim symbol, std::vector<dim> of) {
  products_.insert_or_assign(symbol.symbol(), std::move(of));
}

const std::vector<dim>* graph::product_of(std::uint32_t symbol) const {
  const auto known = products_.find(symbol);
  return known == products_.end() ? nullptr : &known->second;
}

dim graph::minimum(dim of, std::int64_t bound) {
  const auto key = std::to_string(of.symbol()) + ":" + std::to_string(bound);
  const auto made = derived_dim("min:" + key, "min(" + key + ")", {&of, 1});
  if (bound >= 2)
    minimum_of_[made.symbol()] = of.symbol();
  return made;
}

bool graph::is_minimum_of(dim small, dim of) const {
  if (small.known() || of.known())
    return false;
  const auto known = minimum_of_.find(small.symbol());
  return known != minimum_of_.end() && known->second == of.symbol();
}

std::vector<node_id> graph::consumers(value_id of) const {
  std::vector<node_id> readers;
  for (node_id id = 0; id < nodes.size(); ++id)
    if (!nodes[id].removed && std::ranges::find(nodes[id].inputs, of) != nodes[id].inputs.end())
      readers.push_back(id);
  return readers;
}

bool graph::is_output(value_id of) const {
  return std::ranges::find(outputs, of) != outputs.end();
}

void graph::replace_uses(value_id from, value_id to) {
  for (auto& reader : nodes)
    std::ranges::replace(reader.inputs, from, to);
  std::ranges::replace(outputs, from, to);
}

void graph::compact() {
  std::erase_if(nodes, [](const node& which) { return which.removed; });
  std::vector<bool> used(values.size(), false);
  const auto mark = [&](const std::vector<value_id>& ids) {
    for (auto id : ids)
      if (id != no_value)
        used[id] = true;
  };
  mark(inputs);
  mark(outputs);
  for (const auto& kept : nodes) {
    mark(kept.inputs);
    mark(kept.outputs);
  }
  std::vector<value_id> renamed(values.size(), no_value);
  std::vector<value> kept_values;
  for (value_id id = 0; id < values.size(); ++id) {
    if (!used[id])
      continue;
    renamed[id] = static_cast<value_id>(kept_values.size());
    kept_values.push_back(std::move(values[id]));
    kept_values.back().producer = no_node;
  }
  values = std::move(kept_values);
  const auto rename = [&](std::vector<value_id>& ids) {
    for (auto& id : ids)
      if (id != no_value)
        id = renamed[id];
  };
  rename(inputs);
  rename(outputs);
  for (node_id id = 0; id < nodes.size(); ++id) {
    rename(nodes[id].inputs);
    rename(nodes[id].outputs);
    for (auto output : nodes[id].outputs)
      if (output != no_value)
        values[output].producer = id;
  }
}

std::vector<std::vector<node_id>> consumer_index(const graph& of) {
  std::vector<std::vector<node_id>> readers(of.values.size());
  for (node_id id = 0; id < of.nodes.size(); ++id) {
    if (of.nodes[id].removed)
      continue;
    for (auto input : of.nodes[id].inputs)
      if (input != no_value && (readers[input].empty() || readers[input].back() != id))
        readers[input].push_back(id);
  }
  return readers;
}

} // namespace troupe::graph
