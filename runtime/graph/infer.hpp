#pragma once

#include "runtime/graph/graph.hpp"

namespace troupe::graph {

/// What is known of a value: the input and output of shape inference. `constant` is set where the
/// content is known too, as for the shape input of Reshape.
struct fact {
  bool present = false;
  std::optional<dtype> type;
  std::optional<symbolic_shape> dims;
  std::shared_ptr<const tensor> constant;
};

/// Types and dims of a node's outputs from its inputs, by the rules of its operator version. With
/// concrete inputs (and known content where the operator's output shape depends on it) the outputs are
/// concrete. `fresh` makes unknown dims. invalid_argument names node, operator, expected and found;
/// unimplemented for an operator without a rule.
[[nodiscard]] result<std::vector<fact>> infer(const node& of, std::span<const fact> inputs,
                                              graph& fresh);

/// Fills types and dims of every value in order, folding nothing.
[[nodiscard]] result<void> infer_all(graph& on);

} // namespace troupe::graph
