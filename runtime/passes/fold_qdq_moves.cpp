// What moves elements or picks some of them does the same to bytes as to the real numbers they
// stand for: a quantised tensor that is dequantised, moved and quantised by the same parameters is
// moved as it is.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/qdq.hpp"

#include <algorithm>
#include <array>

namespace troupe::passes {

namespace {

// Operators that take bytes in the version they are given here, in input 0 alone.
constexpr std::array<std::string_view, 7> moves{"Flatten", "MaxPool",   "Reshape",  "Slice",
                                                "Squeeze", "Transpose", "Unsqueeze"};
constexpr int max_pool_of_bytes = 12;

std::optional<node> moved_bytes(const rewriter& in, const node& quantizing) {
  const auto means = byte_scale_of(in.on(), quantizing);
  const auto* move = in.plain_producer(quantizing.inputs[0]);
  if (!means || move == nullptr || in.uses(quantizing.inputs[0]) != 1
      || std::ranges::find(moves, move->op_type) == moves.end() || move->outputs.size() != 1)
    return std::nullopt;
  const auto from = dequantized(in, move->inputs[0]);
  if (!from || !from->means.means_the_same_as(*means))
    return std::nullopt;
  auto made = *move;
  made.inputs[0] = from->bytes;
  if (made.op_type == "MaxPool")
    made.version = std::max(made.version, max_pool_of_bytes);
  return made;
}

} // namespace

result<std::size_t> fold_qdq_moves(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  return replace_quantizing(edit, [&](const node& of) { return moved_bytes(edit, of); });
}

} // namespace troupe::passes
