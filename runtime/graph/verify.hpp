#pragma once

#include "runtime/graph/graph.hpp"

namespace troupe::graph {

/// Whether the graph is what its class says: ids in range, each value produced once and before it
/// is read, graph inputs and constants without producer, outputs produced. internal names the first
/// flaw.
[[nodiscard]] result<void> verify(const graph& of);

} // namespace troupe::graph
