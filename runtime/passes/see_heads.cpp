#include "runtime/passes/see_heads.hpp"

#include "runtime/passes/match.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::passes {

namespace {

using axes = std::vector<std::int64_t>;

// The last two axes swapped by way of a reshape to three axes, as a transpose of all of them.
std::optional<value_id> swapped_by_reshapes(const rewriter& edit, const node& reshape) {
  const auto& on = edit.on();
  const auto* transpose = edit.plain_producer(reshape.inputs[0], "Transpose");
  if (transpose == nullptr || perm_of(*transpose, 3) != axes{0, 2, 1})
    return std::nullopt;
  const auto* before = edit.plain_producer(transpose->inputs[0], "Reshape");
  if (before == nullptr)
    return std::nullopt;
  const auto x = before->inputs[0];
  const auto& from = on.values[x].dims;
  const auto& to = on.values[reshape.outputs.front()].dims;
  const auto& flat = on.values[before->outputs.front()].dims;
  const bool same = from && to && flat && from->size() == 4 && to->size() == 4 && flat->size() == 3
                    && (*from)[0] == (*to)[0] && (*from)[1] == (*to)[1] && (*from)[2] == (*to)[3]
                    && (*from)[3] == (*to)[2] && (*flat)[1] == (*from)[2]
                    && (*flat)[2] == (*from)[3];
  return same ? std::optional{x} : std::nullopt;
}

// What a reshape of [b, heads, n, s, d] to [b, heads * n, s, d] repeats n times for each head.
std::optional<value_id> repeated_heads(const rewriter& edit, const node& reshape) {
  const auto& on = edit.on();
  const auto* expand = edit.plain_producer(reshape.inputs[0], "Expand");
  const auto* apart = expand == nullptr ? nullptr : edit.plain_producer(expand->inputs[0]);
  if (apart == nullptr || (apart->op_type != "Unsqueeze" && apart->op_type != "Reshape"))
    return std::nullopt;
  const auto x = apart->inputs[0];
  const auto& from = on.values[x].dims;
  const auto& single = on.values[apart->outputs.front()].dims;
  const auto& wide = on.values[expand->outputs.front()].dims;
  const auto& to = on.values[reshape.outputs.front()].dims;
  if (!from || !single || !wide || !to || from->size() != 4 || single->size() != 5
      || wide->size() != 5 || to->size() != 4)
    return std::nullopt;
  auto expected = *from;
  expected.insert(expected.begin() + 2, graph::dim{1});
  auto repeated = expected;
  repeated[2] = (*wide)[2];
  const auto heads = (*from)[1];
  if (*single != expected || *wide != repeated || !heads.known() || !repeated[2].known()
      || (*to)[0] != (*from)[0] || (*to)[1] != graph::dim{heads.size() * repeated[2].size()}
      || (*to)[2] != (*from)[2] || (*to)[3] != (*from)[3])
    return std::nullopt;
  return x;
}

} // namespace

axes straight(std::size_t rank) {
  axes made(rank);
  std::iota(made.begin(), made.end(), 0);
  return made;
}

axes perm_of(const node& transpose, std::size_t rank) {
  auto perm = transpose.attributes.integers("perm");
  if (perm.empty()) {
    perm = straight(rank);
    std::ranges::reverse(perm);
  }
  return perm;
}

std::optional<float> factor_of(const graph::graph& on, const node& of, value_id& x) {
  if (of.op_type != "Mul" && of.op_type != "Div")
    return std::nullopt;
  const auto found = match_scalar(on, of);
  if (!found || (of.op_type == "Div" && (found->scalar_first || found->number == 0)))
    return std::nullopt;
  x = found->x;
  return of.op_type == "Mul" ? found->number : 1 / found->number;
}

seen_heads see_through(const rewriter& edit, value_id of, std::size_t rank) {
  seen_heads seen{of, straight(rank)};
  for (const auto* by = edit.plain_producer(of); by != nullptr;
       by = edit.plain_producer(seen.base)) {
    axes perm;
    auto next = by->inputs.empty() ? no_value : by->inputs[0];
    if (by->op_type == "Transpose") {
      perm = perm_of(*by, rank);
    } else if (const auto factor = factor_of(edit.on(), *by, next)) {
      seen.scale *= *factor;
    } else if (const auto x =
                   by->op_type == "Reshape" ? swapped_by_reshapes(edit, *by) : std::nullopt) {
      perm = {0, 1, 3, 2};
      next = *x;
    } else if (const auto few =
                   by->op_type == "Reshape" && seen.perm.size() == 4 && seen.perm[1] == 1
                       ? repeated_heads(edit, *by)
                       : std::nullopt) {
      next = *few;
    } else {
      break;
    }
    for (auto& axis : seen.perm)
      axis = perm.empty() ? axis : perm[static_cast<std::size_t>(axis)];
    seen.base = next;
  }
  return seen;
}

} // namespace troupe::passes
