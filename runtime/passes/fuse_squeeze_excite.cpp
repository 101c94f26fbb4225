// Squeeze-and-excite: the mean of an image's channels, two 1x1 convolutions with activations and
// the product with the image itself become one operator "SqueezeExcite" of the domain "troupe"
// (kernels/op/squeeze_excite.hpp). Runs when activations have become steps of the convolutions.

#include "runtime/passes/pass.hpp"

#include "kernels/op/squeeze_excite.hpp"
#include "runtime/passes/rewriter.hpp"

#include <algorithm>

namespace troupe::passes {

namespace {

// The node that makes a value which only one other reads; steps may follow in it.
const node* only_for_one(const rewriter& in, value_id of, std::string_view op_type) {
  if (of == no_value || in.on().values[of].producer == no_node || in.uses(of) != 1)
    return nullptr;
  const auto& made_by = in.on().nodes[in.on().values[of].producer];
  const bool found = !made_by.removed && made_by.domain.empty() && made_by.op_type == op_type
                     && made_by.outputs.size() == 1;
  return found ? &made_by : nullptr;
}

bool are_activations(std::span<const post_op> steps) {
  return std::ranges::none_of(steps, [](const post_op& step) {
    return step.kind == post_op_kind::add || step.kind == post_op_kind::multiply;
  });
}

// A 1x1 convolution of a single position with constant weights and bias: a small matrix.
const node* layer(const rewriter& in, value_id of) {
  const auto* conv = only_for_one(in, of, "Conv");
  if (conv == nullptr || !in.on().is_constant(conv->inputs[1])
      || conv->attributes.integer("group", 1) != 1 || !are_activations(conv->post_ops))
    return nullptr;
  const auto& weights = *in.on().values[conv->inputs[1]].constant;
  const bool has_bias = conv->inputs.size() > 2 && conv->inputs[2] != no_value;
  if (weights.type != dtype::float32 || weights.dims.size() != 4 || weights.dims[2] != 1
      || weights.dims[3] != 1 || (has_bias && !in.on().is_constant(conv->inputs[2])))
    return nullptr;
  const auto pads = conv->attributes.integers("pads");
  return std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; }) ? conv : nullptr;
}

bool takes_the_mean(const graph::graph& of, const node& reducing) {
  if (reducing.attributes.integer("keepdims", 1) != 1)
    return false;
  auto axes = reducing.attributes.integers("axes");
  if (reducing.inputs.size() > 1 && of.is_constant(reducing.inputs[1])) {
    const auto listed = elements_of<std::int64_t>(of.values[reducing.inputs[1]].constant->data);
    axes.assign(listed.begin(), listed.end());
  }
  for (auto& axis : axes)
    axis += axis < 0 ? 4 : 0;
  std::ranges::sort(axes);
  return axes == std::vector<std::int64_t>{2, 3};
}

// The image whose mean `of` is.
value_id averaged(const rewriter& in, value_id of) {
  for (const auto* op_type : {"GlobalAveragePool", "ReduceMean"}) {
    const auto* mean = only_for_one(in, of, op_type);
    if (mean != nullptr && mean->post_ops.empty()
        && (mean->op_type == "GlobalAveragePool" || takes_the_mean(in.on(), *mean)))
      return mean->inputs[0];
  }
  return no_value;
}

struct gated {
  const node* squeeze;
  const node* excite;
  value_id image;
};

std::optional<gated> match(const rewriter& in, const node& product) {
  for (const std::size_t side : {0U, 1U}) {
    const auto* excite = layer(in, product.inputs[side]);
    const auto* squeeze = excite != nullptr ? layer(in, excite->inputs[0]) : nullptr;
    const auto image = product.inputs[1 - side];
    if (squeeze == nullptr || averaged(in, squeeze->inputs[0]) != image)
      continue;
    const auto& value = in.on().values[image];
    if (value.type != dtype::float32 || !value.dims || value.dims->size() != 4)
      continue;
    const auto& first = in.on().values[squeeze->inputs[1]].constant->dims;
    const auto& second = in.on().values[excite->inputs[1]].constant->dims;
    if ((*value.dims)[1] == graph::dim{first[1]} && first[1] == second[0] && first[0] == second[1])
      return gated{squeeze, excite, image};
  }
  return std::nullopt;
}

node fused(const gated& of, const node& product) {
  node made;
  made.name = product.name;
  made.domain = "troupe";
  made.op_type = "SqueezeExcite";
  made.version = 1;
  made.inputs = {of.image};
  for (const auto* conv : {of.squeeze, of.excite}) {
    made.inputs.push_back(conv->inputs[1]);
    made.inputs.push_back(conv->inputs.size() > 2 ? conv->inputs[2] : no_value);
  }
  squeeze_excite::set_steps(made.attributes, squeeze_excite::squeeze_steps, of.squeeze->post_ops);
  squeeze_excite::set_steps(made.attributes, squeeze_excite::excite_steps, of.excite->post_ops);
  for (auto step : product.post_ops) {
    if (!are_activations({&step, 1})) {
      made.inputs.push_back(product.inputs[step.operand]);
      step.operand = made.inputs.size() - 1;
    }
    made.post_ops.push_back(step);
  }
  return made;
}

} // namespace

result<std::size_t> fuse_squeeze_excite(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t found = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (of.removed || !of.domain.empty() || of.op_type != "Mul")
      continue;
    const auto matched = match(edit, of);
    if (!matched)
      continue;
    const auto excite = on.values[matched->excite->outputs.front()].producer;
    const auto squeeze = on.values[matched->squeeze->outputs.front()].producer;
    const auto mean = on.values[matched->squeeze->inputs[0]].producer;
    edit.replace_node(id, fused(*matched, of));
    for (const auto gone : {excite, squeeze, mean})
      edit.remove_node(gone);
    ++found;
  }
  return found;
}

} // namespace troupe::passes
