#include "runtime/passes/legalize/legalizer.hpp"

#include "kernels/tensor/half.hpp"

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

attribute_map attributes_of(std::initializer_list<std::pair<std::string_view, attribute>> written) {
  attribute_map made;
  for (const auto& [name, content] : written)
    made.set(std::string{name}, content);
  return made;
}

} // namespace troupe::passes
