#include "tests/runtime/support/graph_kit.hpp"

#include "runtime/graph/evaluate.hpp"
#include "runtime/graph/infer.hpp"
#include "runtime/graph/row_flow.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace troupe::test {

namespace {

template <class T>
constant_ptr make(dtype type, shape dims, const std::vector<T>& content) {
  return std::make_shared<const tensor>(
      tensor{type, std::move(dims), copy_of(std::as_bytes(std::span{content}))});
}

constexpr std::array step_names{"relu",      "leaky_relu",   "clip",       "linear", "sigmoid",
                                "tanh",      "hard_sigmoid", "hard_swish", "silu",   "gelu_erf",
                                "gelu_tanh", "add",          "multiply"};

} // namespace

constant_ptr floats(shape dims, std::vector<float> content) {
  return make(dtype::float32, std::move(dims), content);
}

constant_ptr integers(shape dims, std::vector<std::int64_t> content) {
  return make(dtype::int64, std::move(dims), content);
}

constant_ptr noise(shape dims, unsigned seed) {
  std::mt19937 random{seed};
  std::vector<float> content(static_cast<std::size_t>(element_count(dims)));
  for (auto& number : content)
    number = static_cast<float>(static_cast<double>(random()) / 0x1p31 - 1.0);
  return floats(std::move(dims), std::move(content));
}

std::vector<float> floats_in(const tensor& content) {
  const auto view = elements_of<float>(content.data);
  return {view.begin(), view.end()};
}

graph::value_id graph_kit::input(const std::string& name, std::vector<std::int64_t> dims,
                                 dtype type) {
  graph::value added{.name = name, .type = type, .dims = graph::symbolic_shape{}};
  for (auto size : dims)
    added.dims->push_back(size > 0 ? graph::dim{size} : size == 0 ? n : made.fresh_dim());
  made.inputs.push_back(made.add_value(std::move(added)));
  return made.inputs.back();
}

graph::value_id graph_kit::constant(constant_ptr content) {
  return made.add_value({.name = "c" + std::to_string(count_++),
                         .type = content->type,
                         .dims = graph::symbolic(content->dims),
                         .constant = content});
}

graph::value_id graph_kit::scalar(float number) {
  return constant(floats({}, {number}));
}

graph::value_id graph_kit::node(const std::string& op_type, std::vector<graph::value_id> inputs,
                                attribute_map attributes, int version) {
  const auto name = op_type + std::to_string(count_++);
  const auto output = made.add_value({.name = name});
  made.add_node({.name = name,
                 .domain = "",
                 .op_type = op_type,
                 .version = version,
                 .attributes = std::move(attributes),
                 .inputs = std::move(inputs),
                 .outputs = {output},
                 .post_ops = {}});
  return output;
}

attribute_map with(std::string name, attribute value) {
  attribute_map made;
  made.set(std::move(name), std::move(value));
  return made;
}

attribute_map with(std::initializer_list<std::pair<std::string, attribute>> attributes) {
  attribute_map made;
  for (const auto& [name, value] : attributes)
    made.set(name, value);
  return made;
}

attribute ints(std::vector<std::int64_t> values) {
  return values;
}

result<std::vector<constant_ptr>> interpret(const graph::graph& of,
                                            std::vector<constant_ptr> inputs, device& on) {
  std::vector<constant_ptr> known;
  for (const auto& value : of.values)
    known.push_back(value.constant);
  for (std::size_t index = 0; index < inputs.size(); ++index)
    known[of.inputs[index]] = inputs[index];
  for (const auto& next : of.nodes) {
    if (next.removed)
      continue;
    std::vector<constant_ptr> read;
    for (auto id : next.inputs)
      read.push_back(id == graph::no_value ? nullptr : known[id]);
    auto outputs = graph::evaluate(next, read, on);
    if (!outputs)
      return propagate(outputs);
    for (std::size_t index = 0; index < next.outputs.size(); ++index)
      if (next.outputs[index] != graph::no_value)
        known[next.outputs[index]] = (*outputs)[index];
  }
  std::vector<constant_ptr> results;
  for (auto id : of.outputs)
    results.push_back(known[id]);
  return results;
}

std::string outline(const graph::graph& of) {
  std::string text;
  for (const auto& next : of.nodes) {
    if (next.removed)
      continue;
    text += (text.empty() ? "" : " ") + next.op_type;
    for (const auto& step : next.post_ops)
      text += std::string{"+"} + step_names[static_cast<std::size_t>(step.kind)];
  }
  return text;
}

double difference(const tensor& left, const tensor& right) {
  if (left.dims != right.dims || left.type != right.type)
    return std::numeric_limits<double>::infinity();
  const auto one = floats_in(left);
  const auto other = floats_in(right);
  double largest = 0;
  for (std::size_t index = 0; index < one.size(); ++index)
    largest = std::max(largest, std::abs(double{one[index]} - double{other[index]}));
  return largest;
}

std::string inferred(graph_kit& kit) {
  auto done = graph::infer_all(kit.made);
  if (!done)
    return done.error().text;
  const auto& dims = kit.made.values[kit.made.nodes.back().outputs.front()].dims;
  return dims ? graph::to_string(*dims, kit.made) : "?";
}

bool rows_stay_apart(graph_kit& kit) {
  kit.made.outputs = {kit.made.nodes.back().outputs.front()};
  return graph::rows_independent(kit.made).independent;
}

} // namespace troupe::test
