#pragma once

#include "kernels/op/attributes.hpp"
#include "kernels/op/post_op.hpp"
#include "kernels/tensor/tensor.hpp"
#include "runtime/graph/dim.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace troupe::graph {

using value_id = std::uint32_t;
using node_id = std::uint32_t;
inline constexpr value_id no_value = ~value_id{0}; ///< an optional input or output left out
inline constexpr node_id no_node = ~node_id{0};

/// What a value is. Types and dims of a sequence or an optional are those of its tensors.
enum class value_kind : std::uint8_t { tensor, sequence, optional_tensor, optional_sequence };

/// A value of the graph: an input, an initializer, or what a node produces. Type and dims are what
/// is known without running: a missing `dims` means that not even the rank is.
struct value {
  std::string name{};
  std::optional<dtype> type{};
  std::optional<symbolic_shape> dims{};
  std::shared_ptr<const tensor> constant{}; ///< set for initializers and folded constants
  node_id producer = no_node;
  value_kind kind = value_kind::tensor;
};

class graph;

/// The graph in an attribute of If, Loop, Scan or SequenceMap. Its inputs are those the operator
/// feeds, then what it reads of the graph around it; constants from there are constants of its own.
struct subgraph {
  std::string name; ///< of the attribute
  std::shared_ptr<const graph> body;
  std::vector<std::size_t> captures; ///< the node's inputs that the last inputs of `body` are
};

/// One operator. `inputs` are the operator's own (no_value where an optional one is left out), then
/// the operands of post-ops, whose index they carry, or what its subgraphs capture: never both.
struct node {
  std::string name;
  std::string domain; ///< "" is ONNX's default domain
  std::string op_type;
  int version = 0; ///< opset version of its domain
  attribute_map attributes;
  std::vector<value_id> inputs;
  std::vector<value_id> outputs;
  std::vector<post_op> post_ops;
  std::vector<subgraph> subgraphs{};
  std::size_t captured = 0; ///< how many of the inputs, the last ones, are there for subgraphs
  bool removed = false;     ///< a tombstone: passes remove nodes without renumbering
};

/// A model's dataflow, single assignment, nodes in a topological order. Plain data with the few
/// edits that passes need; not thread-safe while edited, shared read-only afterwards.
class graph {
public:
  std::string name;
  std::vector<value> values;
  std::vector<node> nodes;
  std::vector<value_id> inputs; ///< without those that are initializers
  std::vector<value_id> outputs;
  std::map<std::string, std::string> metadata; ///< ONNX metadata_props
  std::vector<std::string> symbols;            ///< names of symbolic dims, for people
  std::string producer;

  value_id add_value(value made);
  /// Appends; sets the outputs' producer.
  node_id add_node(node made);
  /// Inserts in front of `position`, which keeps its place in the order behind it; ids of the nodes
  /// from there on move by one, and producers follow.
  node_id insert_node(node_id position, node made);

  /// A fresh unknown.
  dim fresh_dim(std::string label = {});
  /// The symbol of the formula `key` over the symbols among `of`, made on first use: one formula,
  /// one symbol.
  dim derived_dim(const std::string& key, std::string label, std::span<const dim> of);
  /// The symbols that the symbol's formula is made of; null for one that is no formula.
  [[nodiscard]] const std::vector<std::uint32_t>* origins(std::uint32_t symbol) const;
  /// Notes that the symbol stands for the product of these sizes.
  void note_product(dim symbol, std::vector<dim> of);
  /// The sizes that the symbol is the product of; null for another.
  [[nodiscard]] const std::vector<dim>* product_of(std::uint32_t symbol) const;
  /// min(of, bound) of a symbol, bound not negative.
  dim minimum(dim of, std::int64_t bound);
  /// Whether `small` is the minimum of the symbol `of` and a number of 2 or more. Then the two
  /// broadcast only where they are equal.
  [[nodiscard]] bool is_minimum_of(dim small, dim of) const;

  /// Nodes that read `of`, each once, in order. Linear: passes that ask often use `consumer_index`.
  [[nodiscard]] std::vector<node_id> consumers(value_id of) const;
  [[nodiscard]] bool is_output(value_id of) const;
  [[nodiscard]] bool is_constant(value_id of) const {
    return of != no_value && values[of].constant != nullptr;
  }

  /// Every node input and graph output that was `from` becomes `to`.
  void replace_uses(value_id from, value_id to);
  void remove_node(node_id which) { nodes[which].removed = true; }
  /// Drops tombstones and values nobody refers to. Ids change.
  void compact();

private:
  std::map<std::string, dim> derived_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> origins_;
  std::map<std::uint32_t, std::vector<dim>> products_;
  std::map<std::uint32_t, std::uint32_t> minimum_of_;
};

/// Consumers of every value, computed once.
[[nodiscard]] std::vector<std::vector<node_id>> consumer_index(const graph& of);

} // namespace troupe::graph
