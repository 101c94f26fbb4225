// Nodes that compute the same from the same become one, and so do equal small constants.

#include "runtime/passes/pass.hpp"

#include "runtime/graph/infer.hpp"
#include "runtime/passes/rewriter.hpp"

#include <cstring>
#include <string>
#include <unordered_map>
#include <variant>

namespace troupe::passes {

namespace {

constexpr std::size_t largest_compared = 4096; // bytes of a constant worth comparing

template <class T>
void put(const T& number, std::string& key) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(const std::string& text, std::string& key) {
  put(text.size(), key);
  key += text;
}

template <class T>
void put(const std::vector<T>& many, std::string& key) {
  put(many.size(), key);
  for (const auto& one : many)
    put(one, key);
}

void put(const tensor& content, std::string& key) {
  put(content.type, key);
  put(content.dims.size(), key);
  for (auto size : content.dims)
    put(size, key);
  key.append(reinterpret_cast<const char*>(content.data.data()), content.data.size());
}

// Everything but the outputs and the name.
std::string key_of(const node& of) {
  std::string key;
  put(of.domain, key);
  put(of.op_type, key);
  put(of.version, key);
  for (const auto& [name, value] : of.attributes) {
    put(name, key);
    put(value.index(), key);
    std::visit([&](const auto& content) { put(content, key); }, value);
  }
  put(of.inputs, key);
  for (const auto& step : of.post_ops) {
    put(step.kind, key);
    put(step.alpha, key);
    put(step.beta, key);
    put(step.operand, key);
  }
  put(of.outputs.size(), key);
  return key;
}

std::size_t merge_constants(rewriter& edit) {
  std::unordered_map<std::string, value_id> known;
  std::size_t merged = 0;
  const auto& on = edit.on();
  for (value_id id = 0; id < on.values.size(); ++id) {
    if (!on.is_constant(id) || on.values[id].constant->data.size() > largest_compared)
      continue;
    std::string key;
    put(*on.values[id].constant, key);
    const auto [first, added] = known.emplace(std::move(key), id);
    if (added)
      continue;
    const std::vector<node_id> readers{edit.readers(id).begin(), edit.readers(id).end()};
    for (auto reader : readers)
      for (std::size_t index = 0; index < on.nodes[reader].inputs.size(); ++index)
        if (on.nodes[reader].inputs[index] == id) {
          edit.set_input(reader, index, first->second);
          ++merged;
        }
  }
  return merged;
}

} // namespace

result<std::size_t> merge_common_nodes(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  auto merged = merge_constants(edit);
  std::unordered_map<std::string, node_id> known;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (of.removed || of.outputs.size() != 1 || of.outputs.front() == no_value
        || !of.subgraphs.empty() || graph::draws_random(of))
      continue;
    const auto [first, added] = known.emplace(key_of(on.nodes[id]), id);
    if (added || edit.is_output(on.nodes[id].outputs.front()))
      continue;
    merged += edit.bypass(id, on.nodes[first->second].outputs.front()) ? 1 : 0;
  }
  return merged;
}

} // namespace troupe::passes
