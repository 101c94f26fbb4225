// https://onnx.ai/onnx/operators/ — ai.onnx.preview FlexAttention 1: attention whose scores and
// probabilities pass through subgraphs. Those become nodes of the graph around them.

#include "runtime/passes/legalize/legalizer.hpp"

#include "runtime/graph/onnx_type.hpp"

#include <array>
#include <cmath>

namespace troupe::passes {

namespace {

struct sizes {
  std::int64_t query_heads;
  std::int64_t heads; ///< of keys and values
  std::int64_t head;
};

result<sizes> sizes_of(const legalizer& to) {
  const auto& query = to.dims(to.input(0));
  const auto& key = to.dims(to.input(1));
  if (!query || !key || query->size() != 4 || key->size() != 4 || !(*query)[1].known()
      || !(*key)[1].known() || !(*query)[3].known())
    return fail(errc::unimplemented, "heads whose number and size are not known are not supported");
  const sizes found{(*query)[1].size(), (*key)[1].size(), (*query)[3].size()};
  if (found.heads < 1 || found.head < 1 || found.query_heads % found.heads != 0)
    return fail(errc::invalid_argument,
                "a multiple of {} query heads expected, {} found, of {} elements each", found.heads,
                found.query_heads, found.head);
  return found;
}

value_id cast(legalizer& to, value_id of, dtype from, dtype type, value_id into = no_value) {
  if (from == type && into == no_value)
    return of;
  return to.add("Cast", {of}, attributes_of({{"to", graph::onnx_number(type)}}), into);
}

// Each head as often as a group of queries has heads. [N, heads, length, size] in and out.
value_id repeat_heads(legalizer& to, value_id of, const sizes& by) {
  const auto times = by.query_heads / by.heads;
  if (times == 1)
    return of;
  const auto apart = to.add("Unsqueeze", {of, to.integers({2})});
  const auto repeated = to.add("Expand", {apart, to.integers({1, 1, times, 1, 1})});
  const auto rest = to.add("Slice", {to.add("Shape", {of}), to.integers({2}), to.integers({4})});
  const auto joined = to.add("Concat", {to.integers({0, by.query_heads}), rest},
                             attributes_of({{"axis", std::int64_t{0}}}));
  return to.add("Reshape", {repeated, joined});
}

result<value_id> modified(legalizer& to, const node& of, std::string_view name, value_id content) {
  for (const auto& written : of.subgraphs)
    if (written.name == name)
      return to.inline_body(written, content);
  return content;
}

result<bool> flex_attention(legalizer& to, const node& of) {
  if (of.inputs.size() - of.captured != 3)
    return fail(errc::invalid_argument, "3 inputs expected, {} found",
                of.inputs.size() - of.captured);
  const auto found = sizes_of(to);
  if (!found)
    return propagate(found);
  const auto type = to.type(to.input(0)).value_or(dtype::float32);
  const auto fallback = type == dtype::float64 ? dtype::float64 : dtype::float32;
  const auto precise = graph::dtype_of_onnx(
      of.attributes.integer("softmax_precision", graph::onnx_number(fallback)));
  if (!precise)
    return propagate(precise);
  const auto scale = of.attributes.has("scale") ? of.attributes.real("scale", 1)
                                                : 1 / std::sqrt(static_cast<float>(found->head));
  if (!(scale >= 0))
    return fail(errc::unimplemented, "scale {} is not supported", scale);
  const auto root = to.scalar(std::sqrt(scale), type);
  const auto query = to.add("Mul", {to.input(0), root});
  const auto key = to.add("Mul", {repeat_heads(to, to.input(1), *found), root});
  const std::vector<std::int64_t> last_swapped{0, 1, 3, 2};
  const auto turned = to.add("Transpose", {key}, attributes_of({{"perm", last_swapped}}));
  const auto scores =
      modified(to, of, "score_mod", cast(to, to.add("MatMul", {query, turned}), type, *precise));
  if (!scores)
    return propagate(scores);
  const auto shares =
      modified(to, of, "prob_mod",
               to.add("Softmax", {*scores}, attributes_of({{"axis", std::int64_t{-1}}})));
  if (!shares)
    return propagate(shares);
  const auto values = repeat_heads(to, to.input(2), *found);
  const bool same = *precise == type;
  const auto output = to.add("MatMul", {*shares, cast(to, values, type, *precise)}, {},
                             same ? to.output(0) : no_value);
  if (!same)
    cast(to, output, *precise, type, to.output(0));
  return true;
}

constexpr std::array entries{
    legalization_entry{"ai.onnx.preview", "FlexAttention", flex_attention},
};

} // namespace

std::span<const legalization_entry> preview_legalizations() {
  return entries;
}

} // namespace troupe::passes
