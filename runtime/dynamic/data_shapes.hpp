#pragma once

#include "runtime/graph/graph.hpp"

namespace troupe::dynamic {

/// Whether some node's output sizes seem to follow from data: they are fresh unknowns, and a small
/// input of the node comes from more than shapes and constants.
[[nodiscard]] bool has_data_shapes(const graph::graph& of);

} // namespace troupe::dynamic
