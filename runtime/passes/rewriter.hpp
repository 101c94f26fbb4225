#pragma once

#include "runtime/graph/graph.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace troupe::passes {

using graph::no_node;
using graph::no_value;
using graph::node;
using graph::node_id;
using graph::value_id;

/// A graph being edited by one pass, with readers of every value kept up to date. All edits of a
/// pass go through it. Node ids are positions in a topological order and stay valid: nodes are
/// moved into the slot of a node they swallow, never behind it.
class rewriter {
public:
  explicit rewriter(graph::graph& on);

  [[nodiscard]] graph::graph& on() noexcept { return on_; }
  [[nodiscard]] const graph::graph& on() const noexcept { return on_; }

  /// The node that makes the value, if it is one of the default domain without post-ops: what
  /// patterns are made of. Null for inputs, constants and anything else.
  [[nodiscard]] const node* plain_producer(value_id of) const;
  /// The same if its operator is `op_type`.
  [[nodiscard]] const node* plain_producer(value_id of, std::string_view op_type) const;

  /// How many node inputs and graph outputs are this value.
  [[nodiscard]] std::size_t uses(value_id of) const { return readers_[of].size() + is_output_[of]; }
  [[nodiscard]] bool is_output(value_id of) const { return is_output_[of] != 0; }
  [[nodiscard]] std::span<const node_id> readers(value_id of) const { return readers_[of]; }

  value_id add_constant(std::string_view name, std::shared_ptr<const tensor> content);

  /// Puts `made` into the slot of `which`, whose outputs it takes over.
  void replace_node(node_id which, node made);
  void remove_node(node_id which);
  void set_input(node_id which, std::size_t index, value_id to);

  /// Removes `which`, whose output 0 equals `by`: readers get `by`, a graph output keeps its name.
  /// False where that is not possible (a graph input that is to be a graph output as well).
  bool bypass(node_id which, value_id by);

  /// Makes `producer` compute what `consumer` does: moves it into the consumer's slot, with the
  /// consumer's output, `steps` and then the consumer's own post-ops. `operand`, if any, belongs to
  /// the first of the steps. The caller got `producer` from `host_of`.
  void swallow(node_id producer, node_id consumer, std::vector<post_op> steps,
               value_id operand = no_value);

  /// The node whose output 0 is `of`, if it can take steps behind it: `of` is float32, is read
  /// `uses` times in all, is no graph output, and the node has no other output.
  [[nodiscard]] std::optional<node_id> host_of(value_id of, std::size_t uses = 1) const;

private:
  void link(node_id which);
  void unlink(node_id which);

  graph::graph& on_;
  std::vector<std::vector<node_id>> readers_;
  std::vector<unsigned char> is_output_;
};

} // namespace troupe::passes
