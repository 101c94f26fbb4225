// Nodes whose outputs nobody reads.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/rewriter.hpp"

#include <algorithm>

namespace troupe::passes {

result<std::size_t> remove_dead_nodes(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t removed = 0;
  for (auto id = static_cast<node_id>(on.nodes.size()); id-- > 0;) {
    const auto& of = on.nodes[id];
    const bool read = std::ranges::any_of(
        of.outputs, [&](value_id output) { return output != no_value && edit.uses(output) > 0; });
    if (of.removed || read)
      continue;
    edit.remove_node(id);
    ++removed;
  }
  return removed;
}

} // namespace troupe::passes
