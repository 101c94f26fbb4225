#pragma once

#include "runtime/graph/graph.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe::graph {

/// Whether requests may share a batch.
struct row_report {
  bool independent = false;
  std::string reason;          ///< if not: the node, input or output where the proof broke, and why
  std::vector<node_id> inside; ///< nodes whose first input has the rows in another axis than 0
};

/// Tries to prove that row i of every output (along axis 0) depends on row i of the inputs (along
/// axis 0) and on nothing else: not on other rows, not on how many there are. The number of rows is
/// one symbol in axis 0 of every input; shape computations are followed with it, and each operator
/// says where the axis goes (runtime/graph/rows/). What no rule covers counts as dependent: the
/// answer `independent` is never wrong for tensors without empty axes. Fusion and folding change
/// nothing about it, so any stage of the graph may be asked.
[[nodiscard]] row_report rows_independent(const graph& of);

/// Whether a rule says where an operator's rows go.
[[nodiscard]] bool has_row_rule(std::string_view domain, std::string_view op_type);

} // namespace troupe::graph
