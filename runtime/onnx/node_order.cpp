#include "runtime/onnx/node_order.hpp"

#include "runtime/onnx/onnx.pb.h"

#include <cstddef>
#include <functional>
#include <queue>
#include <set>
#include <unordered_map>

namespace troupe::onnx {

namespace {

constexpr std::size_t named_cycle_nodes = 8;

error cycle(const std::vector<scoped_node>& nodes, const std::vector<std::size_t>& missing) {
  std::string names;
  std::size_t named = 0;
  std::size_t stuck = 0;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    if (missing[index] == 0)
      continue;
    ++stuck;
    if (named++ < named_cycle_nodes)
      names += (names.empty() ? "" : ", ") + describe(*nodes[index].proto);
  }
  return {errc::invalid_argument, fmt::format("{} nodes stand in or behind a cycle: {}{}", stuck,
                                              names, stuck > named_cycle_nodes ? ", …" : "")};
}

// Adds the names that a graph reads and does not define.
void collect_free(const GraphProto& of, std::set<std::string>& to) {
  std::set<std::string> read;
  for (const auto& node : of.node()) {
    read.insert(node.input().begin(), node.input().end());
    for (const auto& written : node.attribute())
      if (written.has_g())
        collect_free(written.g(), read);
  }
  for (const auto& output : of.output())
    read.insert(output.name());
  for (const auto& node : of.node())
    for (const auto& name : node.output())
      read.erase(name);
  for (const auto& input : of.input())
    read.erase(input.name());
  for (const auto& stored : of.initializer())
    read.erase(stored.name());
  read.erase("");
  to.merge(read);
}

std::set<std::string> captured_names(const NodeProto& of) {
  std::set<std::string> names;
  for (const auto& written : of.attribute())
    if (written.has_g())
      collect_free(written.g(), names);
  return names;
}

} // namespace

std::string describe(const NodeProto& node) {
  const auto& name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
  return fmt::format("node '{}' ({})", name, node.op_type());
}

result<std::vector<scoped_node>> in_topological_order(const std::vector<scoped_node>& nodes,
                                                      const std::unordered_set<std::string>& known,
                                                      const name_test& outside) {
  std::unordered_map<std::string, std::size_t> producer;
  for (std::size_t index = 0; index < nodes.size(); ++index)
    for (const auto& name : nodes[index].proto->output()) {
      if (name.empty())
        continue;
      if (known.contains(name) || !producer.emplace(name, index).second)
        return fail(errc::invalid_argument, "{}: its output '{}' is also produced elsewhere",
                    describe(*nodes[index].proto), name);
    }

  std::vector<std::size_t> missing(nodes.size(), 0); // inputs whose producer has not been placed
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    const auto depend = [&](const std::string& name) {
      const auto from = producer.find(name);
      if (from == producer.end())
        return false;
      readers[from->second].push_back(index);
      ++missing[index];
      return true;
    };
    for (int slot = 0; slot < nodes[index].proto->input_size(); ++slot) {
      const auto& name = nodes[index].proto->input(slot);
      if (name.empty() || known.contains(name) || depend(name) || outside(name))
        continue;
      return fail(errc::invalid_argument,
                  "{}: input {} '{}' is no graph input, initializer or output of a node",
                  describe(*nodes[index].proto), slot, name);
    }
    for (const auto& name : captured_names(*nodes[index].proto))
      depend(name); // one that is not from here is looked for when the subgraph is read
  }

  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t index = 0; index < nodes.size(); ++index)
    if (missing[index] == 0)
      ready.push(index);
  std::vector<scoped_node> ordered;
  ordered.reserve(nodes.size());
  while (!ready.empty()) {
    const auto next = ready.top();
    ready.pop();
    ordered.push_back(nodes[next]);
    for (auto reader : readers[next])
      if (--missing[reader] == 0)
        ready.push(reader);
  }
  if (ordered.size() < nodes.size())
    return tl::unexpected{cycle(nodes, missing)};
  return ordered;
}

} // namespace troupe::onnx
