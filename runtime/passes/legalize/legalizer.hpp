#pragma once

#include "kernels/base/result.hpp"
#include "runtime/graph/graph.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::passes {

using graph::no_value;
using graph::node;
using graph::value_id;

/// Writes the nodes that an operator is made of. They stand where the operator's node stood.
class legalizer {
public:
  legalizer(graph::graph& on, std::vector<node>& out) : on_{on}, out_{out} {}

  /// The node that is being replaced: gives names, and the values of its inputs and outputs.
  void begin(const node& of) { of_ = &of; }
  [[nodiscard]] value_id input(std::size_t index) const {
    return index < of_->inputs.size() ? of_->inputs[index] : no_value;
  }
  [[nodiscard]] value_id output(std::size_t index) const {
    return index < of_->outputs.size() ? of_->outputs[index] : no_value;
  }
  /// As inference found them.
  [[nodiscard]] std::optional<dtype> type(value_id of) const { return on_.values[of].type; }
  [[nodiscard]] const std::optional<graph::symbolic_shape>& dims(value_id of) const {
    return on_.values[of].dims;
  }

  /// A value that nothing makes yet.
  value_id fresh(std::string name) { return on_.add_value({.name = std::move(name)}); }
  value_id scalar(double number, dtype type);
  value_id integers(std::vector<std::int64_t> content);

  /// A node whose first output is `to`, or a new value; answers that output.
  value_id add(std::string_view op_type, std::vector<value_id> inputs,
               attribute_map attributes = {}, value_id to = no_value);
  /// The same with a domain and version of its own, and more outputs.
  void add(node made);
  /// The nodes of a subgraph of one input, which is `fed`, and one output; answers that output.
  result<value_id> inline_body(const graph::subgraph& of, value_id fed);

private:
  graph::graph& on_;
  std::vector<node>& out_;
  const node* of_ = nullptr;
};

/// Version of the default domain that the nodes of `add` are written for.
inline constexpr int legal_version = 21;

/// How an operator is rewritten; answers false for a node that stays as it is.
using legalization = result<bool> (*)(legalizer& to, const node& of);

struct legalization_entry {
  std::string_view domain;
  std::string_view op_type;
  legalization rewrite;
};

/// The families that legalize.cpp joins.
[[nodiscard]] std::span<const legalization_entry> classifier_legalizations();
[[nodiscard]] std::span<const legalization_entry> transformer_legalizations();
[[nodiscard]] std::span<const legalization_entry> fused_legalizations();
[[nodiscard]] std::span<const legalization_entry> quantized_legalizations();
[[nodiscard]] std::span<const legalization_entry> preview_legalizations();
[[nodiscard]] std::span<const legalization_entry> packed_heads_legalizations();

/// Attributes in one expression.
[[nodiscard]] attribute_map
attributes_of(std::initializer_list<std::pair<std::string_view, attribute>> written);

} // namespace troupe::passes
