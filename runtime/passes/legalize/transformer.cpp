// Operators of com.microsoft that ONNX Runtime's tools write into transformers.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md

#include "runtime/passes/legalize/legalizer.hpp"

#include <array>

namespace troupe::passes {

namespace {

constexpr std::string_view contrib = "com.microsoft";

dtype real_type(const legalizer& to, value_id of) {
  return to.type(of).value_or(dtype::float32);
}

result<void> refuse_output(const node& of, std::size_t index) {
  if (index < of.outputs.size() && of.outputs[index] != no_value)
    return fail(errc::unimplemented, "its output {} is not supported", index);
  return {};
}

value_id sum(legalizer& to, value_id left, value_id right, value_id into = no_value) {
  return right == no_value ? left : to.add("Add", {left, right}, {}, into);
}

result<bool> gelu(legalizer& to, const node&) {
  to.add("Gelu", {to.input(0)}, {}, to.output(0));
  return true;
}

result<bool> fast_gelu(legalizer& to, const node&) {
  to.add("Gelu", {sum(to, to.input(0), to.input(1))},
         attributes_of({{"approximate", std::string{"tanh"}}}), to.output(0));
  return true;
}

result<bool> bias_gelu(legalizer& to, const node&) {
  to.add("Gelu", {sum(to, to.input(0), to.input(1))}, {}, to.output(0));
  return true;
}

// x * sigmoid(alpha * x)
result<bool> quick_gelu(legalizer& to, const node& of) {
  const auto x = to.input(0);
  const auto alpha = of.attributes.real("alpha", 1.702F);
  const auto scaled =
      alpha == 1.0F ? x : to.add("Mul", {x, to.scalar(double{alpha}, real_type(to, x))});
  to.add("Mul", {x, to.add("Sigmoid", {scaled})}, {}, to.output(0));
  return true;
}

// Inputs: input, skip, gamma, beta, bias. Output 3 is the sum that is normalised.
result<bool> skip_layer_normalization(legalizer& to, const node& of) {
  for (const std::size_t statistics : {1U, 2U})
    if (auto good = refuse_output(of, statistics); !good)
      return propagate(good);
  const auto both = sum(to, to.input(0), to.input(4));
  const auto added = to.add("Add", {both, to.input(1)}, {}, to.output(3));
  to.add("LayerNormalization", {added, to.input(2), to.input(3)},
         attributes_of({{"epsilon", of.attributes.real("epsilon", 1e-12F)}}), to.output(0));
  return true;
}

value_id rms(legalizer& to, const node& of, value_id x, value_id scale, float epsilon) {
  node made;
  made.name = of.name + "/RMSNormalization";
  made.op_type = "RMSNormalization";
  made.version = 23;
  made.attributes = attributes_of({{"axis", of.attributes.integer("axis", -1)},
                                   {"epsilon", of.attributes.real("epsilon", epsilon)},
                                   {"stash_type", of.attributes.integer("stash_type", 1)}});
  made.inputs = {x, scale};
  made.outputs = {to.output(0)};
  to.add(std::move(made));
  return to.output(0);
}

// Inputs: input, skip, gamma, bias.
result<bool> skip_simplified_layer_normalization(legalizer& to, const node& of) {
  for (const std::size_t statistics : {1U, 2U})
    if (auto good = refuse_output(of, statistics); !good)
      return propagate(good);
  const auto both = sum(to, to.input(0), to.input(3));
  rms(to, of, to.add("Add", {both, to.input(1)}, {}, to.output(3)), to.input(2), 1e-12F);
  return true;
}

result<bool> simplified_layer_normalization(legalizer& to, const node& of) {
  if (auto good = refuse_output(of, 1); !good)
    return propagate(good);
  rms(to, of, to.input(0), to.input(1), 1e-5F);
  return true;
}

// The rows 0, 1, … of the table of positions, as many as the sequence is long.
value_id first_positions(legalizer& to, value_id ids, value_id table) {
  const auto sizes = to.add("Shape", {ids});
  const auto length = to.add("Slice", {sizes, to.integers({1}), to.integers({2})});
  return to.add("Slice", {table, to.integers({0}), length, to.integers({0})});
}

// Inputs: input_ids, segment_ids, word, position and segment tables, gamma, beta, mask,
// position_ids. Outputs: normalised, number of tokens that count, sum.
result<bool> embed_layer_normalization(legalizer& to, const node& of) {
  const auto ids = to.input(0);
  auto added = to.add("Gather", {to.input(2), ids});
  const auto positions = to.input(8) == no_value ? first_positions(to, ids, to.input(3))
                                                 : to.add("Gather", {to.input(3), to.input(8)});
  const bool segments = to.input(1) != no_value && to.input(4) != no_value;
  added = to.add("Add", {added, positions}, {}, segments ? no_value : to.output(2));
  if (segments)
    added = to.add("Add", {added, to.add("Gather", {to.input(4), to.input(1)})}, {}, to.output(2));
  to.add("LayerNormalization", {added, to.input(5), to.input(6)},
         attributes_of({{"epsilon", of.attributes.real("epsilon", 1e-12F)}}), to.output(0));
  if (to.output(1) == no_value)
    return true;
  if (of.attributes.integer("mask_index_type", to.input(7) == no_value ? 0 : 1) == 1
      && to.input(7) != no_value) {
    to.add("ReduceSum", {to.input(7), to.integers({1})},
           attributes_of({{"keepdims", std::int64_t{0}}}), to.output(1));
    return true;
  }
  const auto sizes = to.add("Shape", {ids});
  const auto batch = to.add("Slice", {sizes, to.integers({0}), to.integers({1})});
  const std::array zero{std::int32_t{0}};
  to.add("ConstantOfShape", {batch},
         attributes_of(
             {{"value", tensor{dtype::int32, {1}, copy_of(std::as_bytes(std::span{zero}))}}}),
         to.output(1));
  return true;
}

// Inputs: input, weights, bias, mask, past, attention_bias. Queries, keys and values are one
// product.
result<bool> attention(legalizer& to, const node& of) {
  for (const auto* flag : {"do_rotary", "past_present_share_buffer"})
    if (of.attributes.integer(flag, 0) != 0)
      return fail(errc::unimplemented, "{} is not supported", flag);
  auto sizes = of.attributes.integers("qkv_hidden_sizes");
  if (sizes.empty()) {
    const auto& weights = to.dims(to.input(1));
    if (!weights || !weights->back().known())
      return fail(errc::unimplemented, "weights whose dims are not known are not supported");
    sizes.assign(3, weights->back().size() / 3);
  }
  const auto projected = sum(to, to.add("MatMul", {to.input(0), to.input(1)}), to.input(2));
  node cut;
  cut.name = of.name + "/Split";
  cut.op_type = "Split";
  cut.version = 13;
  cut.attributes = attributes_of({{"axis", std::int64_t{2}}});
  cut.inputs = {projected, to.integers(sizes)};
  for (const auto* part : {":query", ":key", ":value"})
    cut.outputs.push_back(to.fresh(of.name + part));
  const auto parts = cut.outputs;
  to.add(std::move(cut));

  node heads;
  heads.name = of.name + "/MultiHeadAttention";
  heads.domain = contrib;
  heads.op_type = "MultiHeadAttention";
  heads.version = 1;
  for (const auto* name : {"num_heads", "unidirectional"})
    if (const auto* written = of.attributes.find<std::int64_t>(name))
      heads.attributes.set(name, *written);
  for (const auto* name : {"scale", "mask_filter_value"})
    if (const auto* written = of.attributes.find<float>(name))
      heads.attributes.set(name, *written);
  heads.inputs = {parts[0], parts[1], parts[2], no_value, to.input(3), to.input(5)};
  if (to.input(4) != no_value)
    for (const std::int64_t side : {0, 1})
      heads.inputs.push_back(to.add(
          "Squeeze", {to.add("Gather", {to.input(4), to.integers({side})}), to.integers({0})}));
  while (heads.inputs.back() == no_value)
    heads.inputs.pop_back();
  heads.outputs = {to.output(0)};
  if (to.output(1) != no_value)
    for (const auto* part : {":present_key", ":present_value"})
      heads.outputs.push_back(to.fresh(of.name + part));
  const auto outputs = heads.outputs;
  to.add(std::move(heads));
  if (to.output(1) == no_value)
    return true;
  std::vector<value_id> present;
  for (const std::size_t side : {1U, 2U})
    present.push_back(to.add("Unsqueeze", {outputs[side], to.integers({0})}));
  to.add("Concat", std::move(present), attributes_of({{"axis", std::int64_t{0}}}), to.output(1));
  return true;
}

constexpr std::array entries{
    legalization_entry{contrib, "Attention", attention},
    legalization_entry{contrib, "BiasGelu", bias_gelu},
    legalization_entry{contrib, "EmbedLayerNormalization", embed_layer_normalization},
    legalization_entry{contrib, "FastGelu", fast_gelu},
    legalization_entry{contrib, "Gelu", gelu},
    legalization_entry{contrib, "QuickGelu", quick_gelu},
    legalization_entry{contrib, "SimplifiedLayerNormalization", simplified_layer_normalization},
    legalization_entry{"", "SimplifiedLayerNormalization", simplified_layer_normalization},
    legalization_entry{contrib, "SkipLayerNormalization", skip_layer_normalization},
    legalization_entry{contrib, "SkipSimplifiedLayerNormalization",
                       skip_simplified_layer_normalization},
};

} // namespace

std::span<const legalization_entry> transformer_legalizations() {
  return entries;
}

} // namespace troupe::passes
