#include "runtime/passes/rewriter.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace troupe::passes {

namespace {

struct host_entry {
  std::string_view op_type;
  std::size_t own_inputs; ///< optional ones included: operands of steps stand behind them
};

// Operators behind which a kernel may go on with the element it has at hand.
constexpr std::array hosts{
    host_entry{"Abs", 1},
    host_entry{"Add", 2},
    host_entry{"BatchNormalization", 5},
    host_entry{"Clip", 3},
    host_entry{"Conv", 3},
    host_entry{"ConvTranspose", 3},
    host_entry{"Div", 2},
    host_entry{"Erf", 1},
    host_entry{"Exp", 1},
    host_entry{"Gelu", 1},
    host_entry{"Gemm", 3},
    host_entry{"HardSigmoid", 1},
    host_entry{"HardSwish", 1},
    host_entry{"LayerNormalization", 3},
    host_entry{"LeakyRelu", 1},
    host_entry{"MatMul", 2},
    host_entry{"Mul", 2},
    host_entry{"Neg", 1},
    host_entry{"Pow", 2},
    host_entry{"Relu", 1},
    host_entry{"Sigmoid", 1},
    host_entry{"Sqrt", 1},
    host_entry{"Sub", 2},
    host_entry{"Tanh", 1},
};

const host_entry* find_host(std::string_view op_type) {
  const auto* known = std::ranges::find(hosts, op_type, &host_entry::op_type);
  return known == hosts.end() ? nullptr : known;
}

bool takes_operand(const post_op& step) {
  return step.kind == post_op_kind::add || step.kind == post_op_kind::multiply;
}

} // namespace

rewriter::rewriter(graph::graph& on)
    : on_{on}, readers_(on.values.size()), is_output_(on.values.size(), 0) {
  for (node_id id = 0; id < on.nodes.size(); ++id)
    if (!on.nodes[id].removed)
      link(id);
  for (auto output : on.outputs)
    is_output_[output] = 1;
}

const node* rewriter::plain_producer(value_id of) const {
  if (of == no_value || on_.values[of].producer == no_node)
    return nullptr;
  const auto& made_by = on_.nodes[on_.values[of].producer];
  const bool plain = !made_by.removed && made_by.domain.empty() && made_by.post_ops.empty()
                     && made_by.outputs.front() == of;
  return plain ? &made_by : nullptr;
}

const node* rewriter::plain_producer(value_id of, std::string_view op_type) const {
  const auto* made_by = plain_producer(of);
  return made_by != nullptr && made_by->op_type == op_type ? made_by : nullptr;
}

value_id rewriter::add_constant(std::string_view name, std::shared_ptr<const tensor> content) {
  readers_.emplace_back();
  is_output_.push_back(0);
  return on_.add_value({.name = std::string{name},
                        .type = content->type,
                        .dims = graph::symbolic(content->dims),
                        .constant = std::move(content)});
}

void rewriter::link(node_id which) {
  for (auto input : on_.nodes[which].inputs)
    if (input != no_value)
      readers_[input].push_back(which);
  for (auto output : on_.nodes[which].outputs)
    if (output != no_value)
      on_.values[output].producer = which;
}

void rewriter::unlink(node_id which) {
  for (auto input : on_.nodes[which].inputs)
    if (input != no_value)
      readers_[input].erase(std::ranges::find(readers_[input], which));
  for (auto output : on_.nodes[which].outputs)
    if (output != no_value && on_.values[output].producer == which)
      on_.values[output].producer = no_node;
}

void rewriter::replace_node(node_id which, node made) {
  unlink(which);
  made.outputs = std::move(on_.nodes[which].outputs);
  while (made.outputs.size() > 1 && made.outputs.back() == no_value)
    made.outputs.pop_back();
  on_.nodes[which] = std::move(made);
  link(which);
}

void rewriter::remove_node(node_id which) {
  unlink(which);
  on_.remove_node(which);
}

void rewriter::set_input(node_id which, std::size_t index, value_id to) {
  unlink(which);
  auto& inputs = on_.nodes[which].inputs;
  if (index >= inputs.size())
    inputs.resize(index + 1, no_value);
  inputs[index] = to;
  link(which);
}

bool rewriter::bypass(node_id which, value_id by) {
  const auto gone = on_.nodes[which].outputs.front();
  const auto made_by = on_.values[by].producer;
  if (is_output_[gone] != 0 && (made_by == no_node || is_output_[by] != 0))
    return false;
  remove_node(which);
  // A graph output keeps its value: then the node that made `by` makes `gone` instead.
  const auto from = is_output_[gone] != 0 ? by : gone;
  const auto to = is_output_[gone] != 0 ? gone : by;
  if (is_output_[gone] != 0) {
    std::ranges::replace(on_.nodes[made_by].outputs, by, gone);
    on_.values[gone].producer = made_by;
    on_.values[by].producer = no_node;
  }
  for (auto reader : std::exchange(readers_[from], {})) {
    std::ranges::replace(on_.nodes[reader].inputs, from, to);
    readers_[to].push_back(reader);
  }
  return true;
}

void rewriter::swallow(node_id producer, node_id consumer, std::vector<post_op> steps,
                       value_id operand) {
  auto merged = on_.nodes[producer];
  const auto then = on_.nodes[consumer];
  const auto own = find_host(merged.op_type)->own_inputs;
  if (merged.inputs.size() < own)
    merged.inputs.resize(own, no_value);
  if (operand != no_value) {
    steps.front().operand = merged.inputs.size();
    merged.inputs.push_back(operand);
  }
  merged.post_ops.insert(merged.post_ops.end(), steps.begin(), steps.end());
  for (auto step : then.post_ops) {
    if (takes_operand(step)) {
      merged.inputs.push_back(then.inputs[step.operand]);
      step.operand = merged.inputs.size() - 1;
    }
    merged.post_ops.push_back(step);
  }
  remove_node(producer);
  replace_node(consumer, std::move(merged));
}

std::optional<node_id> rewriter::host_of(value_id of, std::size_t uses) const {
  if (of == no_value || on_.values[of].producer == no_node || is_output_[of] != 0
      || readers_[of].size() != uses || on_.values[of].type != dtype::float32)
    return std::nullopt;
  const auto id = on_.values[of].producer;
  const auto& host = on_.nodes[id];
  const bool single = std::ranges::all_of(
      host.outputs, [&](value_id output) { return output == of || output == no_value; });
  if (!host.domain.empty() || !single || host.outputs.front() != of
      || find_host(host.op_type) == nullptr)
    return std::nullopt;
  return id;
}

} // namespace troupe::passes
