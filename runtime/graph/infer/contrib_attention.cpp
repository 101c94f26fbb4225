// com.microsoft operators around attention.

#include "runtime/graph/infer/contrib.hpp"
#include "runtime/graph/infer/inference.hpp"

#include <array>

namespace troupe::graph {

namespace {

std::optional<symbolic_shape> copied(const inference& at, std::size_t input) {
  return at.dims(input) ? std::optional{*at.dims(input)} : std::nullopt;
}

result<std::int64_t> heads_of(const inference& at, const char* attribute) {
  const auto heads = at.attributes().integer(attribute, 0);
  if (heads < 1 || heads > (std::int64_t{1} << 20))
    return fail(errc::invalid_argument, "{} of 1 or more expected, {} found", attribute, heads);
  return heads;
}

// What `parts` heads make of a row that is known to be cut into `heads`.
dim head_size(inference& at, dim row, std::int64_t heads) {
  if (!row.known())
    return at.symbols().fresh_dim();
  return dim{row.size() / heads};
}

dim plus(inference& at, dim left, dim right) {
  if (left == dim{0} || right == dim{0})
    return left == dim{0} ? right : left;
  if (!left.known() && !right.known()) {
    const std::array parts{left, right};
    return at.symbols().derived_dim(
        "sum:" + std::to_string(left.symbol()) + ":" + std::to_string(right.symbol()), {}, parts);
  }
  if (left.known() && right.known())
    return dim{left.size() + right.size()};
  const auto of = left.known() ? right : left;
  auto sum = floor_affine(of, 1, left.known() ? left.size() : right.size(), 1, at.symbols());
  return sum ? *sum : at.symbols().fresh_dim();
}

// Queries, keys and values in one tensor [batch, length, heads, 3, size], or keys and values in
// one beside the queries.
void infer_packed_heads(inference& at, std::int64_t heads) {
  const auto& packed = at.dims(0)->size() == 5 ? *at.dims(0) : *at.dims(1);
  auto out = *at.dims(0);
  if (out.size() == 5)
    out = {out[0], out[1],
           packed[4].known() ? dim{packed[4].size() * heads} : at.symbols().fresh_dim()};
  at.set(0, at.type(0), std::move(out));
  for (const std::size_t output : {1U, 2U})
    at.set(output, at.type(0), symbolic_shape{packed[0], dim{heads}, packed[1], packed[4]});
}

result<void> infer_multi_head_attention(inference& at) {
  const auto heads = heads_of(at, "num_heads");
  if (!heads)
    return propagate(heads);
  for (std::size_t output = 0; output < 3; ++output)
    at.set(output, at.type(0), std::nullopt);
  const auto* query = at.dims(0);
  const auto* key = at.dims(1);
  const auto* value = at.dims(2);
  if (query != nullptr && !at.has(2)
      && (query->size() == 5 || (query->size() == 3 && key != nullptr && key->size() == 5))) {
    infer_packed_heads(at, *heads);
    return {};
  }
  if (query == nullptr || key == nullptr || value == nullptr)
    return {};
  if (query->size() != 3 || (key->size() != 3 && key->size() != 4)
      || (value->size() != 3 && value->size() != 4))
    return fail(errc::invalid_argument,
                "query of rank 3 with key and value of rank 3 or 4 expected, {}, {} and {} found",
                at.graph_text(*query), at.graph_text(*key), at.graph_text(*value));
  const bool by_head = value->size() == 4;
  auto out = *query;
  const auto size = by_head ? (*value)[3] : head_size(at, (*value)[2], *heads);
  out[2] =
      by_head ? (size.known() ? dim{size.size() * *heads} : at.symbols().fresh_dim()) : (*value)[2];
  at.set(0, at.type(0), std::move(out));
  const auto length = key->size() == 4 ? (*key)[2] : (*key)[1];
  const auto* past = at.dims(6);
  const auto keys = past != nullptr && past->size() == 4 ? plus(at, (*past)[2], length) : length;
  const auto batch = query->front();
  at.set(1, at.type(0),
         symbolic_shape{batch, dim{*heads}, keys, head_size(at, (*query)[2], *heads)});
  at.set(2, at.type(0), symbolic_shape{batch, dim{*heads}, keys, size});
  return {};
}

// The room in the present is that of the past and the new positions, or of a buffer that holds
// both.
result<void> infer_group_query_attention(inference& at) {
  const auto heads = heads_of(at, "num_heads");
  const auto kv_heads = heads ? heads_of(at, "kv_num_heads") : heads;
  if (!kv_heads)
    return propagate(kv_heads);
  for (std::size_t output = 0; output < 3; ++output)
    at.set(output, at.type(0), std::nullopt);
  const auto* query = at.dims(0);
  if (query == nullptr)
    return {};
  if (query->size() != 3)
    return fail(errc::invalid_argument, "query of rank 3 expected, {} found",
                at.graph_text(*query));
  const bool packed = !at.has(1);
  const auto size = head_size(at, (*query)[2], *heads + (packed ? 2 * *kv_heads : 0));
  auto out = *query;
  if (packed)
    out[2] = size.known() ? dim{size.size() * *heads} : at.symbols().fresh_dim();
  const auto batch = query->front();
  auto keys = (*query)[1];
  if (const auto* past = at.dims(3); past != nullptr && past->size() == 4) {
    keys = plus(at, (*past)[2], keys);
    const auto total = at.elements(6);
    if (total.size() == 1 && total[0].is_number() && (*past)[2].known())
      keys = dim{std::max(total[0].number(), (*past)[2].size())};
  }
  at.set(0, at.type(0), std::move(out));
  for (const std::size_t output : {1U, 2U})
    at.set(output, at.type(0), symbolic_shape{batch, dim{*kv_heads}, keys, size});
  return {};
}

// Input [B, S, I], weights [I, Q + K + V].
result<void> infer_attention(inference& at) {
  const auto heads = heads_of(at, "num_heads");
  if (!heads)
    return propagate(heads);
  at.set(0, at.type(0), std::nullopt);
  at.set(1, at.type(0), std::nullopt);
  const auto* input = at.dims(0);
  const auto* weights = at.dims(1);
  if (input == nullptr || weights == nullptr)
    return {};
  if (input->size() != 3 || weights->size() != 2)
    return fail(errc::invalid_argument,
                "input of rank 3 and weights of rank 2 expected, {} and {} "
                "found",
                at.graph_text(*input), at.graph_text(*weights));
  const auto sizes = at.attributes().integers("qkv_hidden_sizes");
  auto out = *input;
  if (sizes.size() == 3)
    out[2] = dim{sizes[2]};
  else
    out[2] = head_size(at, (*weights)[1], 3);
  const auto size = head_size(at, out[2], *heads);
  auto keys = (*input)[1];
  if (const auto* past = at.dims(4); past != nullptr && past->size() == 5)
    keys = plus(at, (*past)[3], keys);
  at.set(1, at.type(0), symbolic_shape{dim{2}, input->front(), dim{*heads}, keys, size});
  at.set(0, at.type(0), std::move(out));
  return {};
}

result<void> infer_rotary_embedding(inference& at) {
  at.set(0, at.type(0), copied(at, 0));
  return {};
}

result<void> infer_matmul_nbits(inference& at) {
  auto dims = copied(at, 0);
  const auto columns = at.attributes().integer("N", 0);
  if (columns < 1)
    return fail(errc::invalid_argument, "N of 1 or more expected, {} found", columns);
  if (dims && dims->empty())
    return fail(errc::invalid_argument, "input 0 of rank 1 or more expected, a scalar found");
  if (dims)
    dims->back() = dim{columns};
  at.set(0, at.type(0), std::move(dims));
  return {};
}

constexpr std::array rules{
    infer_entry{"Attention", 2, 7, 2, infer_attention, contrib},
    infer_entry{"GroupQueryAttention", 1, 12, 3, infer_group_query_attention, contrib},
    infer_entry{"MatMulNBits", 3, 6, 1, infer_matmul_nbits, contrib},
    infer_entry{"MultiHeadAttention", 1, 10, 3, infer_multi_head_attention, contrib},
    infer_entry{"RotaryEmbedding", 4, 4, 1, infer_rotary_embedding, contrib},
};

} // namespace

std::span<const infer_entry> contrib_attention_rules() {
  return rules;
}

} // namespace troupe::graph
