// com.microsoft operators that have kernels: a batch entry attends to itself alone.

#include "runtime/graph/rows/row_rule.hpp"

#include <array>

namespace troupe::graph {

namespace {

constexpr std::string_view contrib = "com.microsoft";

// Every input with a batch has the rows there; the others are shared, but for one that could be
// broadcast along it.
row_axis along_batch(const row_step& at, std::size_t batched) {
  for (std::size_t input = 0; input < at.inputs.size(); ++input) {
    if (!at.has(input))
      continue;
    if (at.states[input].has_rows() ? at.states[input].axis != 0 || input >= batched
                                    : !at.states[input].is_shared())
      return rows_mix(fmt::format("input {} does not have the rows in axis 0", input));
    const bool whole = input < batched && !at.states[input].has_rows();
    if (whole && (at.rank(input) == 0 || at.dims(input)->front() != dim{1}))
      return rows_mix(fmt::format("input {} has no rows", input));
  }
  if (!at.states[0].has_rows())
    return rows_mix("its queries have no rows");
  return 0;
}

// The weights of all but the bias of scores are shared; a bias of queries is, too.
row_axis multi_head(const row_step& at) {
  for (const std::size_t input : {1U, 2U, 4U, 6U, 7U})
    if (at.has(input) && (!at.states[input].has_rows() || at.states[input].axis != 0))
      return rows_mix(fmt::format("input {} does not have the rows in axis 0", input));
  if (auto why = unless_shared(at, 3))
    return rows_mix(std::move(*why));
  if (at.has(5) && !(at.states[5].has_rows() && at.states[5].axis == 0)
      && !(at.states[5].is_shared() && at.rank(5) == 4 && at.dims(5)->front() == dim{1}))
    return rows_mix("attention_bias does not have the rows in axis 0");
  return at.states[0].has_rows() && at.states[0].axis == 0
             ? row_axis{0}
             : row_axis{rows_mix("its queries do not have the rows in axis 0")};
}

// A batch entry has its own length; that of the longest and the caches of angles are shared.
row_axis group_query(const row_step& at) {
  for (std::size_t input = 0; input < 6; ++input)
    if (at.has(input) && (!at.states[input].has_rows() || at.states[input].axis != 0))
      return rows_mix(fmt::format("input {} does not have the rows in axis 0", input));
  if (auto why = unless_rest_shared(at, 6))
    return rows_mix(std::move(*why));
  return 0;
}

row_axis keeps_first(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  if (at.states[0].axis + 1 >= at.rank(0))
    return rows_mix("it sums over the rows");
  return at.states[0].axis;
}

row_axis rotary(const row_step& at) {
  if (auto why = unless_rest_shared(at, 2))
    return rows_mix(std::move(*why));
  return along_batch(at, at.rank(1) == 2 ? 2 : 1);
}

constexpr std::array rules{
    row_entry{"GroupQueryAttention", group_query, contrib},
    row_entry{"MatMulNBits", keeps_first, contrib},
    row_entry{"MultiHeadAttention", multi_head, contrib},
    row_entry{"RotaryEmbedding", rotary, contrib},
};

} // namespace

std::span<const row_entry> contrib_row_rules() {
  return rules;
}

} // namespace troupe::graph
