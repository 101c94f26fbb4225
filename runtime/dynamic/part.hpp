#pragma once

#include "runtime/graph/infer.hpp"

#include <span>
#include <vector>

namespace troupe::dynamic {

/// Some nodes of a graph as a graph of their own.
struct part {
  graph::graph of;
  std::vector<graph::value_id> inputs;  ///< what the part's inputs are in the whole, in order
  std::vector<graph::value_id> outputs; ///< the same for outputs
};

/// Takes `nodes`. Values that `wanted` names are outputs if one of the nodes makes them; what the
/// nodes read and do not make is an input, or a constant where its content is known: from the graph
/// itself or from `facts`, by value, which may be empty.
[[nodiscard]] part take_part(const graph::graph& whole, std::span<const graph::node_id> nodes,
                             const std::vector<bool>& wanted, std::span<const graph::fact> facts);

/// Marks what nodes read and what the graph gives.
void mark_inputs(const graph::node& of, std::vector<bool>& wanted);
void mark_outputs(const graph::graph& of, std::vector<bool>& wanted);

} // namespace troupe::dynamic
