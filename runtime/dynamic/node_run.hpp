#pragma once

#include "runtime/dynamic/context.hpp"
#include "runtime/graph/graph.hpp"

#include <span>
#include <vector>

namespace troupe::dynamic {

/// Runs one node without subgraphs on its inputs' contents, by a value kernel or by a planned one,
/// whichever the operator has for these types. One value for each output, nothing where the node
/// names none. Errors name the node.
[[nodiscard]] result<std::vector<datum>> run_node(const graph::graph& in, const graph::node& of,
                                                  std::span<const datum> inputs, const tools& with);

/// Moves strings as an ordinary kernel moves numbers: the node runs over positions, which then say
/// where each string comes from.
[[nodiscard]] result<std::vector<datum>>
move_strings(const graph::node& of, std::span<const datum> inputs, const tools& with);

/// Whether `move_strings` knows the operator: all it does is say which element goes where.
[[nodiscard]] bool moves_strings(const graph::node& of);

} // namespace troupe::dynamic
