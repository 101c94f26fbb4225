#pragma once

#include "runtime/graph/infer.hpp"

#include <span>
#include <vector>

namespace troupe::graph {

/// A subgraph with what its node's inputs say about types and dims.
struct typed_subgraph {
  graph body;                ///< a copy, inferred; as declared where inference refuses it
  std::vector<fact> outputs; ///< of the body, in the symbols of the graph around
};

/// The subgraphs of an If, Loop, Scan or SequenceMap, in the node's order, knowing what holds for
/// every time they run: what a Loop or Scan carries has the dims that do not change from one
/// iteration to the next. A branch of an If that cannot be right for these inputs will never run,
/// so it is no error. `symbols` makes unknown dims. invalid_argument when the node has too few
/// inputs for its subgraphs.
[[nodiscard]] result<std::vector<typed_subgraph>>
type_subgraphs(const node& of, std::span<const fact> inputs, graph& symbols);

/// Inputs of the node itself, without captures.
[[nodiscard]] inline std::size_t own_inputs(const node& of) {
  return of.inputs.size() - of.captured;
}

/// Axis `index` of an axes attribute, counted from the front of `rank` axes; 0 where it says none.
[[nodiscard]] result<std::size_t> scan_axis(const node& of, const char* attribute,
                                            std::size_t index, std::size_t rank);

} // namespace troupe::graph
