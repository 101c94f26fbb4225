#pragma once

#include "runtime/dynamic/context.hpp"
#include "runtime/graph/graph.hpp"

#include <memory>
#include <span>
#include <vector>

namespace troupe::dynamic {

class program;
using body_ptr = std::shared_ptr<const program>;

/// A node with subgraphs, whose programs `bodies` are in the node's order. `in` is its graph.
/// ONNX: If-1 to -25, Loop-1 to -25, Scan-8 to -25, SequenceMap-17. The bound of a Loop is the
/// model's; `with` may stop it between iterations. Errors name the node.
[[nodiscard]] result<std::vector<datum>> run_control(const graph::graph& in, const graph::node& of,
                                                     std::span<const datum> inputs,
                                                     std::span<const body_ptr> bodies,
                                                     const run_context& with);

/// One call of a control operator.
struct control_call {
  const graph::graph& in;
  const graph::node& of;
  std::span<const datum> inputs; ///< captures behind the operator's own
  std::span<const body_ptr> bodies;
  const run_context& with;

  /// Runs a body on what the operator feeds it and what it captures.
  [[nodiscard]] result<std::vector<datum>> run_body(std::size_t which,
                                                    std::vector<datum> fed) const;
};

[[nodiscard]] result<std::vector<datum>> run_loop(const control_call& of);
[[nodiscard]] result<std::vector<datum>> run_scan(const control_call& of);

/// Tensors of equal type and dims along a new axis; without any, dims as the body's output
/// `declared` says, 0 where it does not.
[[nodiscard]] result<tensor> stack(std::span<const tensor> parts, std::size_t axis,
                                   const graph::value& declared);

} // namespace troupe::dynamic
