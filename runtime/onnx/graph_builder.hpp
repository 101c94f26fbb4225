#pragma once

#include "kernels/base/result.hpp"
#include "runtime/graph/graph.hpp"
#include "runtime/onnx/function_inliner.hpp"
#include "runtime/onnx/tensor_reader.hpp"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::onnx {

class GraphProto;
class TensorShapeProto;
class ValueInfoProto;

/// Builds one graph of a model; a builder for each subgraph stands behind that of the graph around
/// it, whose values the subgraph may read.
class graph_builder {
public:
  graph_builder(function_inliner& functions, tensor_reader& tensors, graph_builder* outer = nullptr)
      : functions_{functions}, tensors_{tensors}, outer_{outer}, nesting_{outer == nullptr
                                                                              ? 0
                                                                              : outer->nesting_
                                                                                    + 1} {}

  /// The graph's nodes are written for `opsets`, `depth` function calls deep. Once.
  [[nodiscard]] result<graph::graph> build(const GraphProto& of, const opset_map& opsets,
                                           int depth);
  /// After `build`: the values of the graph around it that the last inputs of the subgraph are.
  [[nodiscard]] const std::vector<graph::value_id>& captured() const noexcept { return captured_; }

private:
  result<void> add_initializers(const GraphProto& of);
  result<void> add_inputs(const GraphProto& of);
  result<void> add_nodes(const GraphProto& of, const opset_map& opsets, int depth);
  result<void> add_node(const scoped_node& from);
  result<void> add_subgraphs(const scoped_node& from, graph::node& to);
  result<void> fold_constant(const NodeProto& from, const attribute_map& attributes);
  result<void> add_outputs(const GraphProto& of);
  result<void> add_constant(const std::string& name, std::shared_ptr<const tensor> content);

  [[nodiscard]] bool makes_maps(graph::node_id producer) const;
  result<graph::value> declared_value(const ValueInfoProto& from, std::string_view what);
  graph::symbolic_shape declared_dims(const TensorShapeProto& from);

  /// Whether the name is known here or around.
  [[nodiscard]] bool knows(const std::string& name) const;
  /// The value of this name; one from around becomes an input here, or a constant if it is one.
  [[nodiscard]] std::optional<graph::value_id> find(const std::string& name);

  function_inliner& functions_;
  tensor_reader& tensors_;
  graph_builder* outer_;
  int nesting_;
  graph::graph built_;
  std::unordered_map<std::string, graph::value_id> ids_;
  std::unordered_map<std::string, graph::dim> symbols_;
  std::vector<graph::value_id> captured_;        // of the graph around
  std::vector<graph::value_id> captured_inputs_; // what they are here
};

} // namespace troupe::onnx
