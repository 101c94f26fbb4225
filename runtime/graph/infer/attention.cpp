#include "runtime/graph/infer/inference.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

// The size of one head where `heads` lie next to each other in the last axis.
result<dim> head_size(inference& at, dim last, std::int64_t heads) {
  if (heads < 1)
    return fail(errc::invalid_argument, "1 head or more expected, {} found", heads);
  if (last.known() && last.size() % heads != 0)
    return fail(errc::invalid_argument, "a size of {} heads expected, {} found", heads,
                last.size());
  return floor_affine(last, 1, 0, heads, at.symbols());
}

struct heads_seen {
  dim count;
  dim length;
  dim size;
};

result<heads_seen> heads_of(inference& at, const symbolic_shape& of, const char* attribute) {
  if (of.size() == 4)
    return heads_seen{of[1], of[2], of[3]};
  const auto count = at.attributes().integer(attribute, 0);
  auto size = head_size(at, of[2], count);
  if (!size)
    return propagate(size);
  return heads_seen{count, of[1], *size};
}

// https://onnx.ai/onnx/operators/onnx__Attention.html
result<void> infer_attention(inference& at) {
  const auto* q = at.dims(0);
  const auto* k = at.dims(1);
  const auto* v = at.dims(2);
  if (q == nullptr || k == nullptr || v == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    at.set(1, at.type(0), at.unknown(4));
    at.set(2, at.type(2), at.unknown(4));
    at.set(3, at.type(0), at.unknown(4));
    return {};
  }
  if (q->size() != 3 && q->size() != 4)
    return fail(errc::invalid_argument, "queries of rank 3 or 4 expected, {} found",
                at.graph_text(*q));
  for (std::size_t input : {1U, 2U})
    if (auto good = at.expect_rank(input, q->size()); !good)
      return good;
  const auto queries = heads_of(at, *q, "q_num_heads");
  const auto keys = heads_of(at, *k, "kv_num_heads");
  const auto values = heads_of(at, *v, "kv_num_heads");
  if (!queries || !keys || !values)
    return propagate(!queries ? queries : !keys ? keys : values);
  dim total = keys->length;
  if (const auto* past = at.dims(4); past != nullptr) {
    if (auto good = at.expect_rank(4, 4); !good)
      return good;
    const std::array parts{(*past)[2], keys->length};
    auto both = sum(parts, at.symbols());
    if (!both)
      return propagate(both);
    total = *both;
  } else if (at.has(4)) {
    total = at.symbols().fresh_dim();
  }
  const dim batch = (*q)[0];
  if (q->size() == 4) {
    at.set(0, at.type(0), symbolic_shape{batch, queries->count, queries->length, values->size});
  } else {
    const std::array parts{queries->count, values->size};
    auto width = product(parts, at.symbols());
    if (!width)
      return propagate(width);
    at.set(0, at.type(0), symbolic_shape{batch, queries->length, *width});
  }
  at.set(1, at.type(0), symbolic_shape{batch, keys->count, total, keys->size});
  at.set(2, at.type(2), symbolic_shape{batch, keys->count, total, values->size});
  at.set(3, at.type(0), symbolic_shape{batch, queries->count, queries->length, total});
  return {};
}

// ai.onnx.preview FlexAttention 1: its subgraphs keep dims; what they capture stands
// behind the 3 inputs.
result<void> infer_flex_attention(inference& at) {
  for (std::size_t input = 0; input < 3; ++input)
    if (auto good = at.expect_rank(input, 4); !good)
      return good;
  const auto* q = at.dims(0);
  const auto* v = at.dims(2);
  if (q == nullptr || v == nullptr)
    at.set(0, at.type(0), at.unknown(4));
  else
    at.set(0, at.type(0), symbolic_shape{(*q)[0], (*q)[1], (*q)[2], (*v)[3]});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__RotaryEmbedding.html
result<void> infer_rotary_embedding(inference& at) {
  for (std::size_t input : {1U, 2U})
    if (auto good = at.same_type(input); !good)
      return good;
  return infer_same(at);
}

// https://onnx.ai/onnx/operators/onnx__LinearAttention.html
result<void> infer_linear_attention(inference& at) {
  for (std::size_t input = 0; input < 3; ++input)
    if (auto good = at.expect_rank(input, 3); !good)
      return good;
  const auto* q = at.dims(0);
  const auto* v = at.dims(2);
  const auto state_type = at.has(3) ? at.type(3) : at.type(0);
  if (q == nullptr || v == nullptr) {
    at.set(0, at.type(0), at.unknown(3));
    at.set(1, state_type, at.unknown(4));
    return {};
  }
  const auto q_heads = at.attributes().integer("q_num_heads", 0);
  const auto kv_heads = at.attributes().integer("kv_num_heads", 0);
  const auto key = head_size(at, (*q)[2], q_heads);
  const auto value = head_size(at, (*v)[2], kv_heads);
  if (!key || !value)
    return propagate(!key ? key : value);
  const auto width = floor_affine(*value, q_heads, 0, 1, at.symbols());
  if (!width)
    return propagate(width);
  at.set(0, at.type(0), symbolic_shape{(*q)[0], (*q)[1], *width});
  at.set(1, state_type, symbolic_shape{(*q)[0], kv_heads, *key, *value});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__CausalConvWithState.html
result<void> infer_causal_conv(inference& at) {
  for (std::size_t input : {0U, 1U})
    if (auto good = at.expect_rank(input, 3); !good)
      return good;
  const auto* data = at.dims(0);
  const auto* weight = at.dims(1);
  dim past = at.symbols().fresh_dim();
  if (weight != nullptr) {
    auto counted = floor_affine((*weight)[2], 1, -1, 1, at.symbols());
    if (!counted)
      return propagate(counted);
    past = *counted;
  }
  if (data == nullptr)
    at.set(1, at.type(0), at.unknown(3));
  else
    at.set(1, at.type(0), symbolic_shape{(*data)[0], (*data)[1], past});
  return infer_same(at);
}

// The operator that fuse_attention puts in. kernels/cpu/attention/fused_form.hpp says what it is.
result<void> infer_fused_attention(inference& at) {
  const auto perm = at.attributes().integers("q_perm");
  const auto k_perm = at.attributes().integers("k_perm");
  const auto v_perm = at.attributes().integers("v_perm");
  const auto out_perm = at.attributes().integers("out_perm");
  const auto rank = perm.size();
  const auto fits = [rank](std::int64_t axis) {
    return axis >= 0 && static_cast<std::size_t>(axis) < rank;
  };
  for (const auto* each : {&perm, &k_perm, &v_perm, &out_perm})
    if ((rank != 3 && rank != 4) || each->size() != rank || !std::ranges::all_of(*each, fits))
      return fail(errc::invalid_argument, "permutations of 3 or 4 axes expected");
  if (at.attributes().integer("heads", 0) < 0)
    return fail(errc::invalid_argument, "0 heads or more expected, {} found",
                at.attributes().integer("heads", 0));
  for (const std::size_t input : {0U, 1U, 2U})
    if (auto good = at.expect_rank(input, rank); !good)
      return good;
  const auto* q = at.dims(0);
  const auto* v = at.dims(2);
  if (q == nullptr || v == nullptr) {
    at.set(0, at.type(0), at.unknown(rank));
    return {};
  }
  symbolic_shape sorted;
  for (std::size_t i = 0; i < rank; ++i)
    sorted.push_back((*q)[static_cast<std::size_t>(perm[i])]);
  sorted.back() = (*v)[static_cast<std::size_t>(v_perm.back())];
  for (std::size_t operand = 3; operand < at.input_count(); ++operand) // broadcast a single query
    if (const auto* dims = at.dims(operand); dims != nullptr && dims->size() > 1) {
      auto both = broadcast(sorted[rank - 2], (*dims)[dims->size() - 2], at.symbols());
      if (!both)
        return propagate(both);
      sorted[rank - 2] = *both;
    }
  if (at.attributes().has("heads"))
    sorted[rank - 3] = dim{at.attributes().integer("heads", 0)};
  symbolic_shape out;
  for (const auto axis : out_perm)
    out.push_back(sorted[static_cast<std::size_t>(axis)]);
  at.set(0, at.type(0), std::move(out));
  return {};
}

constexpr std::array rules{
    infer_entry{"Attention", 3, 7, 4, infer_attention},
    infer_entry{"CausalConvWithState", 2, 4, 2, infer_causal_conv},
    infer_entry{"FlexAttention", 3, any_number, 1, infer_flex_attention, "ai.onnx.preview"},
    infer_entry{"LinearAttention", 3, 6, 2, infer_linear_attention},
    infer_entry{"RotaryEmbedding", 3, 4, 1, infer_rotary_embedding},
    infer_entry{"Attention", 3, 6, 1, infer_fused_attention, "troupe"},
};

} // namespace

std::span<const infer_entry> attention_rules() {
  return rules;
}

} // namespace troupe::graph
