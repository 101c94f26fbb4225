#pragma once

#include "runtime/graph/element.hpp"
#include "runtime/graph/graph.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace troupe::graph {

/// What is known of a value: the input and output of shape inference. `constant` is set where the
/// content is known too, as for the shape input of Reshape; `elements` where it is known in part,
/// as behind Shape of a symbolic tensor.
struct fact {
  bool present = false;
  std::optional<dtype> type{};
  std::optional<symbolic_shape> dims{};
  std::shared_ptr<const tensor> constant{};
  std::vector<element> elements{}; ///< one for each element, or none
  value_kind kind = value_kind::tensor;
};

/// What the graph says of a value.
[[nodiscard]] fact fact_of(const value& known);

/// Types and dims of a node's outputs from its inputs, by the rules of its operator version. With
/// concrete inputs (and known content where the operator's output shape depends on it) the outputs
/// are concrete, and what Shape and integer arithmetic behind it give is in `constant`. `fresh`
/// makes unknown dims; nothing else of it is read. invalid_argument names node, operator, expected
/// and found; unimplemented for an operator without a rule.
[[nodiscard]] result<std::vector<fact>> infer(const node& of, std::span<const fact> inputs,
                                              graph& fresh);

/// Whether a node gives other outputs for the same inputs: it is neither computed beforehand nor
/// merged with its like.
[[nodiscard]] bool draws_random(const node& of);

/// Fills types and dims of every value in order, folding nothing. Dims that a graph output declares
/// stay where inference knows less.
[[nodiscard]] result<void> infer_all(graph& on);

} // namespace troupe::graph
