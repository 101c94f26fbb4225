// Operators that are compositions of others (of com.microsoft above all) become those, so that
// every pass and kernel behind knows them. Runs always, on a graph that inference has been through.

#include "runtime/passes/pass.hpp"

#include "runtime/graph/infer.hpp"
#include "runtime/passes/legalize/legalizer.hpp"

#include <map>
#include <utility>

namespace troupe::passes {

namespace {

legalization find(const node& of) {
  using key = std::pair<std::string_view, std::string_view>;
  static const auto joined = [] {
    std::map<key, legalization> all;
    for (const auto family : {
             classifier_legalizations(),
             transformer_legalizations(),
             fused_legalizations(),
             quantized_legalizations(),
             preview_legalizations(),
             packed_heads_legalizations(),
         })
      for (const auto& entry : family)
        all.emplace(key{entry.domain, entry.op_type}, entry.rewrite);
    return all;
  }();
  const auto known = joined.find({of.domain, of.op_type});
  return known == joined.end() ? nullptr : known->second;
}

} // namespace

result<std::size_t> legalize(graph::graph& on, const pass_context&) {
  std::size_t rewritten = 0;
  std::vector<node> nodes;
  nodes.reserve(on.nodes.size());
  legalizer to{on, nodes};
  for (auto& of : on.nodes) {
    const auto by = of.removed ? nullptr : find(of);
    if (by == nullptr) {
      nodes.push_back(std::move(of));
      continue;
    }
    to.begin(of);
    const auto done = by(to, of);
    if (!done)
      return fail(done.error().code, "node '{}' ({}): {}", of.name, of.op_type, done.error().text);
    if (*done)
      ++rewritten;
    else
      nodes.push_back(std::move(of));
  }
  on.nodes = std::move(nodes);
  if (rewritten == 0)
    return rewritten;
  for (graph::node_id id = 0; id < on.nodes.size(); ++id)
    if (!on.nodes[id].removed)
      for (const auto output : on.nodes[id].outputs)
        if (output != no_value)
          on.values[output].producer = id;
  if (auto good = graph::infer_all(on); !good)
    return propagate(good);
  return rewritten;
}

} // namespace troupe::passes
