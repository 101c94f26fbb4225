// com.microsoft, where an operator has the dims of one of the default domain.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md

#include "runtime/graph/infer/contrib.hpp"

#include "runtime/graph/infer/inference.hpp"

#include <array>

namespace troupe::graph {

namespace {

constexpr int version = 21;

// The dims that `op_type` of the default domain has for these facts.
result<std::optional<symbolic_shape>> dims_as(inference& at, const char* op_type,
                                              std::vector<fact> facts, attribute_map attributes) {
  node as;
  as.op_type = op_type;
  as.version = version;
  as.attributes = std::move(attributes);
  while (!facts.empty() && !facts.back().present)
    facts.pop_back();
  for (auto& known : facts)
    known.type.reset(); // integers where the operator may ask for real numbers
  as.inputs.assign(facts.size(), 0);
  as.outputs = {0};
  auto found = infer(as, facts, at.symbols());
  if (!found)
    return fail(found.error().code, "{}", found.error().text);
  return std::move(found->front().dims);
}

std::vector<fact> facts_of(const inference& at, std::initializer_list<std::size_t> inputs) {
  std::vector<fact> facts;
  for (const auto input : inputs)
    facts.push_back(at.has(input) ? at.input(input) : fact{});
  return facts;
}

result<void> set_as(inference& at, const char* op_type, std::vector<fact> facts,
                    attribute_map attributes, std::optional<dtype> type) {
  auto dims = dims_as(at, op_type, std::move(facts), std::move(attributes));
  if (!dims)
    return propagate(dims);
  at.set(0, type, *std::move(dims));
  return {};
}

void set_statistics(inference& at, std::size_t output) {
  auto dims = at.dims(0) ? std::optional{*at.dims(0)} : std::nullopt;
  if (dims && !dims->empty())
    dims->back() = dim{1};
  at.set(output, dtype::float32, std::move(dims));
}

result<void> infer_skip_normalization(inference& at) {
  set_statistics(at, 1);
  set_statistics(at, 2);
  at.set(3, at.type(0), at.dims(0) ? std::optional{*at.dims(0)} : std::nullopt);
  return infer_same(at);
}

result<void> infer_simplified_normalization(inference& at) {
  set_statistics(at, 1);
  return infer_same(at);
}

result<void> infer_embed_normalization(inference& at) {
  for (const std::size_t input : {2U, 3U, 5U, 6U})
    if (!at.has(input))
      return fail(errc::invalid_argument, "input {} is left out but not optional", input);
  for (const std::size_t table : {2U, 3U})
    if (auto good = at.expect_rank(table, 2); !good)
      return good;
  if (auto good = at.expect_rank(0, 2); !good)
    return good;
  std::optional<symbolic_shape> out;
  if (at.dims(0) && at.dims(2))
    out = symbolic_shape{(*at.dims(0))[0], (*at.dims(0))[1], (*at.dims(2))[1]};
  at.set(0, at.type(2), out);
  at.set(1, dtype::int32,
         at.dims(0) ? std::optional{symbolic_shape{at.dims(0)->front()}} : std::nullopt);
  at.set(2, at.type(2), std::move(out));
  return {};
}

result<void> infer_fused_matmul(inference& at) {
  auto facts = facts_of(at, {0, 1});
  const std::array flags{"transA", "transB"};
  for (std::size_t input = 0; input < facts.size(); ++input)
    if (auto& dims = facts[input].dims; at.attributes().integer(flags[input], 0) != 0 && dims)
      if (dims->size() > 1)
        std::swap(dims->back(), (*dims)[dims->size() - 2]);
  return set_as(at, "MatMul", std::move(facts), {}, at.type(0));
}

result<void> infer_fused_conv(inference& at) {
  return set_as(at, "Conv", facts_of(at, {0, 1, 2}), at.attributes(), at.type(0));
}

result<void> infer_fused_gemm(inference& at) {
  return set_as(at, "Gemm", facts_of(at, {0, 1, 2}), at.attributes(), at.type(0));
}

result<void> infer_product(inference& at) {
  return set_as(at, "MatMul", facts_of(at, {0, 1}), {}, dtype::float32);
}

result<void> infer_qlinear_binary(inference& at) {
  return set_as(at, "Add", facts_of(at, {0, 3}), {}, at.type(0));
}

// A, its scale and zero point, those of B, a bias, and the scale and zero point of the result,
// which is real without them.
result<void> infer_qgemm(inference& at) {
  auto facts = facts_of(at, {0, 3});
  for (auto& each : facts)
    each.type = dtype::float32;
  const auto byte = at.type(8) ? at.type(8) : at.type(0);
  return set_as(at, "Gemm", std::move(facts), at.attributes(),
                at.has(7) ? byte : std::optional{dtype::float32});
}

result<void> infer_qlinear_average_pool(inference& at) {
  return set_as(at, "AveragePool", facts_of(at, {0}), at.attributes(), at.type(0));
}

result<void> infer_qlinear_global_average_pool(inference& at) {
  return set_as(at, "GlobalAveragePool", facts_of(at, {0}), {}, at.type(0));
}

result<void> infer_qlinear_concat(inference& at) {
  std::vector<fact> facts;
  for (std::size_t part = 2; part < at.input_count(); part += 3)
    facts.push_back(at.input(part));
  return set_as(at, "Concat", std::move(facts), at.attributes(), at.type(2));
}

result<void> infer_quantize(inference& at) {
  return set_as(at, "QuantizeLinear", facts_of(at, {0, 1, 2}), {},
                at.has(2) ? at.type(2) : std::optional{dtype::uint8});
}

result<void> infer_dequantize(inference& at) {
  return set_as(at, "DequantizeLinear", facts_of(at, {0, 1, 2}), {}, at.type(1));
}

constexpr std::array rules{
    infer_entry{"BiasGelu", 2, 2, 1, infer_same, contrib},
    infer_entry{"DequantizeLinear", 2, 3, 1, infer_dequantize, contrib},
    infer_entry{"DynamicQuantizeMatMul", 3, 5, 1, infer_product, contrib},
    infer_entry{"EmbedLayerNormalization", 1, 9, 3, infer_embed_normalization, contrib},
    infer_entry{"FastGelu", 1, 2, 1, infer_same, contrib},
    infer_entry{"FusedConv", 2, 4, 1, infer_fused_conv, contrib},
    infer_entry{"FusedGemm", 2, 3, 1, infer_fused_gemm, contrib},
    infer_entry{"FusedMatMul", 2, 2, 1, infer_fused_matmul, contrib},
    infer_entry{"Gelu", 1, 1, 1, infer_same, contrib},
    infer_entry{"MatMulIntegerToFloat", 4, 7, 1, infer_product, contrib},
    infer_entry{"QGemm", 6, 9, 1, infer_qgemm, contrib},
    infer_entry{"QLinearAdd", 7, 8, 1, infer_qlinear_binary, contrib},
    infer_entry{"QLinearAveragePool", 4, 5, 1, infer_qlinear_average_pool, contrib},
    infer_entry{"QLinearConcat", 5, any_number, 1, infer_qlinear_concat, contrib},
    infer_entry{"QLinearGlobalAveragePool", 4, 5, 1, infer_qlinear_global_average_pool, contrib},
    infer_entry{"QLinearLeakyRelu", 4, 5, 1, infer_same, contrib},
    infer_entry{"QLinearMul", 7, 8, 1, infer_qlinear_binary, contrib},
    infer_entry{"QLinearSigmoid", 4, 5, 1, infer_same, contrib},
    infer_entry{"QLinearSoftmax", 4, 5, 1, infer_same, contrib},
    infer_entry{"QuantizeLinear", 2, 3, 1, infer_quantize, contrib},
    infer_entry{"QuickGelu", 1, 1, 1, infer_same, contrib},
    infer_entry{"SimplifiedLayerNormalization", 2, 2, 2, infer_simplified_normalization, contrib},
    infer_entry{"SimplifiedLayerNormalization", 2, 2, 2, infer_simplified_normalization},
    infer_entry{"SkipLayerNormalization", 3, 5, 4, infer_skip_normalization, contrib},
    infer_entry{"SkipSimplifiedLayerNormalization", 3, 4, 4, infer_skip_normalization, contrib},
    infer_entry{"TransposeMatMul", 2, 2, 1, infer_fused_matmul, contrib},
};

} // namespace

std::span<const infer_entry> contrib_rules() {
  return rules;
}

} // namespace troupe::graph
