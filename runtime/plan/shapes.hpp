#pragma once

#include "kernels/device/device.hpp"
#include "runtime/graph/infer.hpp"

#include <span>
#include <vector>

namespace troupe::plan {

/// What a graph's values are once its inputs have sizes.
struct known_values {
  std::vector<graph::fact> facts; ///< by value; absent where nobody needs the value
  std::vector<bool> runs;         ///< by node: whether it must run, not known when planning
};

/// Gives every value that the outputs need its concrete dims, and computes what is known before any
/// data: Shape of known dims, and small results of nodes whose inputs are all known.
/// invalid_argument when the inputs do not fit the model, naming input or node; unimplemented where
/// a shape depends on data, unless `open` is given: then it says by node whether an output of it,
/// or of one before it, has a shape that depends on data, and nothing is known of those.
[[nodiscard]] result<known_values> find_shapes(const graph::graph& of,
                                               std::span<const shape> inputs, device& on,
                                               std::vector<bool>* open = nullptr);

} // namespace troupe::plan
