#include "runtime/passes/legalize/legalizer.hpp"

#include "kernels/tensor/half.hpp"

#include <algorithm>
#include <array>

namespace troupe::passes {

namespace {

template <class T>
std::shared_ptr<const tensor> tensor_of(dtype type, shape dims, std::span<const T> content) {
  return std::make_shared<const tensor>(
      tensor{type, std::move(dims), copy_of(std::as_bytes(content))});
}

std::shared_ptr<const tensor> number_as(double number, dtype type) {
  const auto make = [&](auto as) {
    const std::array content{as};
    return tensor_of<decltype(as)>(type, {}, content);
  };
  switch (type) {
    case dtype::float64: return make(number);
    case dtype::float16: return make(half{static_cast<float>(number)});
    case dtype::bfloat16: return make(bfloat16{static_cast<float>(number)});
    default: return make(static_cast<float>(number));
  }
}

} // namespace

value_id legalizer::scalar(double number, dtype type) {
  auto content = number_as(number, type);
  return on_.add_value({.name = of_->name + "/constant",
                        .type = content->type,
                        .dims = graph::symbolic_shape{},
                        .constant = std::move(content)});
}

value_id legalizer::integers(std::vector<std::int64_t> content) {
  auto made =
      tensor_of<std::int64_t>(dtype::int64, {static_cast<std::int64_t>(content.size())}, content);
  return on_.add_value({.name = of_->name + "/constant",
                        .type = dtype::int64,
                        .dims = graph::symbolic(made->dims),
                        .constant = std::move(made)});
}

value_id legalizer::add(std::string_view op_type, std::vector<value_id> inputs,
                        attribute_map attributes, value_id to) {
  node made;
  made.name = of_->name + "/" + std::string{op_type};
  made.op_type = op_type;
  made.version = legal_version;
  made.attributes = std::move(attributes);
  made.inputs = std::move(inputs);
  while (!made.inputs.empty() && made.inputs.back() == no_value)
    made.inputs.pop_back();
  if (to == no_value)
    to = on_.add_value({.name = made.name + ":" + std::to_string(out_.size())});
  made.outputs = {to};
  out_.push_back(std::move(made));
  return to;
}

void legalizer::add(node made) {
  out_.push_back(std::move(made));
}

result<value_id> legalizer::inline_body(const graph::subgraph& of, value_id fed) {
  const auto& body = *of.body;
  if (body.inputs.size() != 1 + of.captures.size() || body.outputs.size() != 1)
    return fail(errc::invalid_argument, "{} of 1 input and 1 output expected, {} and {} found",
                of.name, body.inputs.size() - of.captures.size(), body.outputs.size());
  std::vector<value_id> known(body.values.size(), no_value);
  known[body.inputs.front()] = fed;
  for (std::size_t index = 0; index < of.captures.size(); ++index)
    known[body.inputs[index + 1]] = input(of.captures[index]);
  const auto outside = [&](value_id inside) {
    if (inside != no_value && known[inside] == no_value) {
      const auto& from = body.values[inside];
      graph::value made{.name = of_->name + "/" + from.name, .constant = from.constant};
      if (made.constant) {
        made.type = made.constant->type;
        made.dims = graph::symbolic(made.constant->dims);
      }
      known[inside] = on_.add_value(std::move(made));
    }
    return inside == no_value ? no_value : known[inside];
  };
  for (const auto& inner : body.nodes) {
    if (inner.removed)
      continue;
    auto made = inner;
    made.name = of_->name + "/" + inner.name;
    std::ranges::transform(made.inputs, made.inputs.begin(), outside);
    std::ranges::transform(made.outputs, made.outputs.begin(), outside);
    out_.push_back(std::move(made));
  }
  return outside(body.outputs.front());
}

attribute_map attributes_of(std::initializer_list<std::pair<std::string_view, attribute>> written) {
  attribute_map made;
  for (const auto& [name, content] : written)
    made.set(std::string{name}, content);
  return made;
}

} // namespace troupe::passes
