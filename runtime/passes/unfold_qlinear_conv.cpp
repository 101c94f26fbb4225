// QLinearConv for which there is no fast kernel, by its weights or by the processor, becomes the
// three operators that it stands for: bytes made real, a convolution, its result quantised. They
// answer the same but for sums beyond 2^24, whose last digits float32 does not hold. Where the
// weights alone were the reason, fold_qdq_products may put them together again.

#include "runtime/passes/pass.hpp"

#include "kernels/cpu/integer_conv/qlinear_conv.hpp"
#include "kernels/cpu/quantized_kernels.hpp"
#include "runtime/passes/match.hpp"

#include <algorithm>
#include <utility>

namespace troupe::passes {

namespace {

using namespace cpu::qlinear_conv;

bool has_fast_kernel(const graph::graph& in, const graph::node& of) {
  const auto& zero = *in.values[of.inputs[w_zero]].constant;
  return cpu::multiplies_bytes_fast() && zero.type == dtype::int8
         && std::ranges::all_of(elements_of<std::int8_t>(zero.data),
                                [](std::int8_t number) { return number == 0; });
}

// Whether float32 has a fast kernel for it: all but the image is constant, of FP32 and bytes.
bool unfolds(const graph::graph& in, const graph::node& of) {
  if (of.inputs.size() < 8 || of.inputs[x] == graph::no_value)
    return false;
  for (std::size_t input = x_scale; input < of.inputs.size(); ++input)
    if (of.inputs[input] != graph::no_value && !in.is_constant(of.inputs[input]))
      return false;
  for (const auto scale : {x_scale, w_scale, y_scale})
    if (of.inputs[scale] == graph::no_value
        || in.values[of.inputs[scale]].constant->type != dtype::float32)
      return false;
  for (const auto zero : {x_zero, w_zero, y_zero})
    if (of.inputs[zero] == graph::no_value)
      return false;
  const auto numbers = [&](std::size_t input) {
    return element_count(in.values[of.inputs[input]].constant->dims);
  };
  const bool has_bias = of.inputs.size() > bias && of.inputs[bias] != graph::no_value;
  if (numbers(x_scale) != 1 || numbers(y_scale) != 1 || numbers(w_scale) != numbers(w_zero)
      || (has_bias && in.values[of.inputs[bias]].constant->type != dtype::int32))
    return false;
  const auto& image = in.values[of.inputs[x]];
  const auto& result = in.values[of.outputs.front()];
  return image.dims && (image.dims->size() == 3 || image.dims->size() == 4) && result.dims;
}

// The bias as real numbers: whole ones in units of the scales of image and weights.
graph::value_id real_bias(graph::graph& in, const graph::node& of) {
  if (of.inputs.size() <= bias || of.inputs[bias] == graph::no_value)
    return graph::no_value;
  const auto whole = elements_of<std::int32_t>(in.values[of.inputs[bias]].constant->data);
  const double image_scale = *scalar_in(in, of.inputs[x_scale]);
  const auto scales = elements_of<float>(in.values[of.inputs[w_scale]].constant->data);
  std::vector<float> real;
  for (std::size_t i = 0; i < whole.size(); ++i)
    real.push_back(static_cast<float>(whole[i] * image_scale * scales[scales.size() > 1 ? i : 0]));
  const auto count = static_cast<std::int64_t>(real.size());
  return in.add_value({.name = of.name + ":bias",
                       .type = dtype::float32,
                       .dims = graph::symbolic_shape{graph::dim{count}},
                       .constant = make_floats({&count, 1}, real)});
}

// Replaces node `id` and answers how many nodes were put in front of its place.
graph::node_id unfold(graph::graph& in, graph::node_id id) {
  const auto of = in.nodes[id];
  auto at = id;
  const auto add = [&](std::string_view op_type, std::vector<graph::value_id> inputs,
                       attribute_map attributes, graph::value_id like) {
    const auto made = in.add_value({.name = fmt::format("{}:{}:{}", of.name, op_type, at),
                                    .type = dtype::float32,
                                    .dims = in.values[like].dims});
    in.insert_node(at++, {.name = of.name,
                          .domain = {},
                          .op_type = std::string{op_type},
                          .version = 21,
                          .attributes = std::move(attributes),
                          .inputs = std::move(inputs),
                          .outputs = {made},
                          .post_ops = {}});
    return made;
  };
  attribute_map channels;
  channels.set("axis", std::int64_t{0});
  const auto image = add("DequantizeLinear", {of.inputs[x], of.inputs[x_scale], of.inputs[x_zero]},
                         {}, of.inputs[x]);
  const auto weights =
      add("DequantizeLinear", {of.inputs[w], of.inputs[w_scale], of.inputs[w_zero]}, channels,
          of.inputs[w]);
  std::vector<graph::value_id> operands{image, weights};
  if (const auto addend = real_bias(in, of); addend != graph::no_value)
    operands.push_back(addend);
  const auto result = add("Conv", std::move(operands), of.attributes, of.outputs.front());
  auto& last = in.nodes[at];
  last.op_type = "QuantizeLinear";
  last.version = 21;
  last.attributes = {};
  last.inputs = {result, of.inputs[y_scale], of.inputs[y_zero]};
  return at - id;
}

} // namespace

result<std::size_t> unfold_qlinear_conv(graph::graph& on, const pass_context&) {
  std::size_t unfolded = 0;
  for (graph::node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (of.removed || !of.domain.empty() || of.op_type != "QLinearConv" || !unfolds(on, of)
        || has_fast_kernel(on, of))
      continue;
    id += unfold(on, id);
    ++unfolded;
  }
  return unfolded;
}

} // namespace troupe::passes
