// Recurrent layers and attention: the rows are the batch.

#include "runtime/graph/rows/row_rule.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

// Nothing if the input is absent or has rows in the axis.
std::optional<std::string> unless_rows(const row_step& at, std::size_t input, std::size_t axis) {
  if (!at.has(input) || (at.states[input].has_rows() && at.states[input].axis == axis))
    return std::nullopt;
  return fmt::format("the rows are not in axis {} of input {}", axis, input);
}

// Output 0 is [steps, directions, batch, hidden], the states lack the steps; with layout 1 the
// batch comes first in all.
row_axis recurrent(const row_step& at) {
  const bool batch_first = at.of.attributes.integer("layout", 0) != 0;
  const std::size_t batch = batch_first ? 0 : 1;
  for (std::size_t input : {0U, 5U, 6U})
    if (auto why = unless_rows(at, input, batch))
      return rows_mix(std::move(*why));
  if (auto why = unless_rows(at, 4, 0))
    return rows_mix(std::move(*why));
  for (std::size_t input : {1U, 2U, 3U, 7U})
    if (auto why = unless_shared(at, input))
      return rows_mix(std::move(*why));
  return batch_first ? 0 : 2;
}

row_axis attention(const row_step& at) {
  for (std::size_t input : {0U, 1U, 2U, 4U, 5U, 6U})
    if (auto why = unless_rows(at, input, 0))
      return rows_mix(std::move(*why));
  if (!at.has(3))
    return 0;
  const bool has_batch = at.rank(3) == 4;
  if (at.states[3].has_rows())
    return has_batch && at.states[3].axis == 0 ? row_axis{0}
                                               : rows_mix("its mask has the rows elsewhere");
  if (auto why = unless_shared(at, 3))
    return rows_mix(std::move(*why));
  if (at.dims(3) == nullptr || (has_batch && at.dims(3)->front() != dim{1}))
    return rows_mix("its mask has a batch of its own");
  return 0;
}

// Caches that positions are looked up in are shared, those of the tokens themselves are not.
row_axis rotary_embedding(const row_step& at) {
  if (auto why = unless_rows(at, 0, 0))
    return rows_mix(std::move(*why));
  for (std::size_t input : {1U, 2U})
    if (auto why = at.has(3) ? unless_shared(at, input) : unless_rows(at, input, 0))
      return rows_mix(std::move(*why));
  if (auto why = unless_rows(at, 3, 0))
    return rows_mix(std::move(*why));
  return 0;
}

row_axis linear_attention(const row_step& at) {
  for (std::size_t input = 0; input < at.inputs.size(); ++input)
    if (auto why = unless_rows(at, input, 0))
      return rows_mix(std::move(*why));
  return 0;
}

row_axis causal_conv(const row_step& at) {
  for (std::size_t input : {0U, 3U})
    if (auto why = unless_rows(at, input, 0))
      return rows_mix(std::move(*why));
  for (std::size_t input : {1U, 2U})
    if (auto why = unless_shared(at, input))
      return rows_mix(std::move(*why));
  return 0;
}

// The rows are what the permutations put first: the batch, or heads of all batch entries together.
row_axis fused_attention(const row_step& at) {
  const auto& attributes = at.of.attributes;
  const auto out_perm = attributes.integers("out_perm");
  const std::array perms{attributes.integers("q_perm"), attributes.integers("k_perm"),
                         attributes.integers("v_perm")};
  for (std::size_t input = 0; input < perms.size(); ++input) {
    if (perms[input].size() != out_perm.size() || at.rank(input) != out_perm.size()
        || perms[input].empty())
      return rows_mix("its permutations do not fit");
    if (auto why = unless_rows(at, input, static_cast<std::size_t>(perms[input].front())))
      return rows_mix(std::move(*why));
  }
  const auto heads = [&](std::size_t input) {
    return (*at.dims(input))[static_cast<std::size_t>(perms[input].front())];
  };
  if (out_perm.size() == 3 && heads(0) != heads(1))
    return rows_mix("several heads of queries read one of keys");
  for (std::size_t input = perms.size(); input < at.inputs.size(); ++input) {
    const bool whole = at.rank(input) == out_perm.size();
    if (at.states[input].has_rows()) {
      if (!whole || at.states[input].axis != 0)
        return rows_mix("an operand of its scores has the rows elsewhere");
      continue;
    }
    if (auto why = unless_shared(at, input))
      return rows_mix(std::move(*why));
    if (at.dims(input) == nullptr || (whole && at.dims(input)->front() != dim{1}))
      return rows_mix("an operand of its scores has a batch of its own");
  }
  const auto found = std::ranges::find(out_perm, 0);
  if (found == out_perm.end())
    return rows_mix("its permutations do not fit");
  return static_cast<std::size_t>(found - out_perm.begin());
}

constexpr std::size_t lacks_steps = 1;

constexpr std::array rules{
    row_entry{"Attention", attention},
    row_entry{"CausalConvWithState", causal_conv},
    row_entry{.op_type = "GRU", .rule = recurrent, .later_outputs_lack = lacks_steps},
    row_entry{.op_type = "LSTM", .rule = recurrent, .later_outputs_lack = lacks_steps},
    row_entry{"LinearAttention", linear_attention},
    row_entry{.op_type = "RNN", .rule = recurrent, .later_outputs_lack = lacks_steps},
    row_entry{"RotaryEmbedding", rotary_embedding},
    row_entry{"Attention", fused_attention, "troupe"},
};

} // namespace

std::span<const row_entry> network_row_rules() {
  return rules;
}

} // namespace troupe::graph
