#pragma once

#include "kernels/device/device.hpp"
#include "runtime/graph/graph.hpp"

#include <cstddef>
#include <string_view>

namespace troupe::passes {

/// What a rewrite may use beside the graph.
struct pass_context {
  device* on = nullptr; ///< runs nodes on constants; null: nothing is folded
};

/// Rewrites the graph where its pattern stands and answers how often it did. Keeps outputs, their
/// names, types and dims; leaves removed nodes as tombstones and may leave values nobody reads.
using rewrite = result<std::size_t> (*)(graph::graph&, const pass_context&);

struct pass {
  std::string_view name;
  rewrite run;
};

/// Outputs that nobody reads and the operator may leave out are left out. Always runs, before
/// inference.
result<std::size_t> drop_unread_outputs(graph::graph& on, const pass_context& with);

/// Operators that are compositions of others become those; kernels do not know them. Always runs,
/// on a graph that inference has been through. unimplemented for a form without a composition.
result<std::size_t> legalize(graph::graph& on, const pass_context& with);

// One rewrite a file; pass_gate.cpp says in which order they run.

result<std::size_t> fold_constants(graph::graph& on, const pass_context& with);
result<std::size_t> remove_no_ops(graph::graph& on, const pass_context& with);
result<std::size_t> merge_common_nodes(graph::graph& on, const pass_context& with);
result<std::size_t> remove_dead_nodes(graph::graph& on, const pass_context& with);
result<std::size_t> find_layer_normalization(graph::graph& on, const pass_context& with);
result<std::size_t> find_hard_swish(graph::graph& on, const pass_context& with);
result<std::size_t> find_gelu(graph::graph& on, const pass_context& with);
result<std::size_t> fuse_attention(graph::graph& on, const pass_context& with);
result<std::size_t> read_heads_in_place(graph::graph& on, const pass_context& with);
result<std::size_t> fold_batch_normalization(graph::graph& on, const pass_context& with);
result<std::size_t> fold_qdq(graph::graph& on, const pass_context& with);
result<std::size_t> fold_qdq_moves(graph::graph& on, const pass_context& with);
result<std::size_t> fold_qdq_products(graph::graph& on, const pass_context& with);
result<std::size_t> fold_qdq_sums(graph::graph& on, const pass_context& with);
result<std::size_t> unfold_qlinear_conv(graph::graph& on, const pass_context& with);
result<std::size_t> fold_affine(graph::graph& on, const pass_context& with);
result<std::size_t> fuse_silu(graph::graph& on, const pass_context& with);
result<std::size_t> fuse_activations(graph::graph& on, const pass_context& with);
result<std::size_t> fuse_linear(graph::graph& on, const pass_context& with);
result<std::size_t> fuse_operands(graph::graph& on, const pass_context& with);
result<std::size_t> fuse_squeeze_excite(graph::graph& on, const pass_context& with);

} // namespace troupe::passes
