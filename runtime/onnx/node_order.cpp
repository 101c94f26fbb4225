#include "runtime/onnx/node_order.hpp"

#include "runtime/onnx/onnx.pb.h"

#include <cstddef>
#include <functional>
#include <queue>
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

} // namespace

std::string describe(const NodeProto& node) {
  const auto& name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
  return fmt::format("node '{}' ({})", name, node.op_type());
}

result<std::vector<scoped_node>>
in_topological_order(const std::vector<scoped_node>& nodes,
                     const std::unordered_set<std::string>& known) {
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
  for (std::size_t index = 0; index < nodes.size(); ++index)
    for (int slot = 0; slot < nodes[index].proto->input_size(); ++slot) {
      const auto& name = nodes[index].proto->input(slot);
      if (name.empty() || known.contains(name))
        continue;
      const auto from = producer.find(name);
      if (from == producer.end())
        return fail(errc::invalid_argument,
                    "{}: input {} '{}' is no graph input, initializer or output of a node",
                    describe(*nodes[index].proto), slot, name);
      readers[from->second].push_back(index);
      ++missing[index];
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
