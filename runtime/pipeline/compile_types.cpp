// Types and sizes, along the order of the steps.

#include "runtime/pipeline/compiler.hpp"
#include "runtime/pipeline/types.hpp"

#include <algorithm>

namespace troupe::pipeline {

namespace {

const tensor_signature& port(const std::vector<tensor_signature>& of, const std::string& name) {
  return *std::find_if(of.begin(), of.end(), [&](const auto& one) { return one.name == name; });
}

} // namespace

// What is not declared comes from the models that take the input.
result<void> compiler::type_inputs() {
  for (value_id id = 0; id < from_.inputs.size(); ++id) {
    const auto& declared = from_.inputs[id];
    auto& value = made_.values[id];
    bool typed = declared.type.has_value();
    bool sized = declared.dims.has_value();
    value.optional = declared.optional;
    value.type = declared.type.value_or(dtype::float32);
    value.dims = declared.dims.value_or(std::vector<std::int64_t>{});
    for (std::size_t i = 0; i < made_.steps.size(); ++i)
      for (const auto& input : made_.steps[i].inputs) {
        if (input.value != id)
          continue;
        const auto& taken = port(ports_[i].inputs, input.port);
        const auto seen = input.cut ? before_cut(taken) : taken;
        if (!std::exchange(typed, true))
          value.type = seen.type;
        if (!std::exchange(sized, true)) {
          value.dims = seen.dims;
          value.any_rank = seen.any_rank;
        } else if (!declared.dims) {
          narrow(value, seen);
        }
      }
    if (!typed || !sized)
      return wrong("input \"{}\": expected a datatype and a shape: no model takes it that would "
                   "say them",
                   declared.name);
    value.dim_names.resize(value.dims.size());
    made_.io.inputs.push_back(value);
  }
  return {};
}

result<void> compiler::type_steps() {
  for (std::size_t i = 0; i < made_.steps.size(); ++i) {
    const auto& step = made_.steps[i];
    for (const auto& input : step.inputs) {
      const auto& given = made_.values[input.value];
      const auto& taken = port(ports_[i].inputs, input.port);
      if (!fits(given, taken, input.cut ? std::optional{step.rows} : std::nullopt))
        return wrong_in(step.name, "input \"{}\" of model {} takes {}, tensor \"{}\" is {}{}",
                        input.port, step.model, to_text(taken), given.name, to_text(given),
                        input.cut ? fmt::format(", cut into {} at a time", step.rows) : "");
    }
    if (step.when)
      if (auto ok = check_condition(step); !ok)
        return ok;
    for (const auto& output : step.outputs)
      if (auto ok = type_output(step, output, ports_[i]); !ok)
        return ok;
  }
  return {};
}

result<void> compiler::check_condition(const plan_step& step) const {
  const auto& value = made_.values[step.when->value];
  const bool boolean = step.when->how == comparison::is_true;
  if (boolean != (value.type == dtype::boolean) || value.type == dtype::string)
    return wrong_in(step.name, "condition: expected a {}, tensor \"{}\" is {}",
                    boolean ? "BOOL" : "number to compare", value.name, to_text(value));
  if (std::any_of(value.dims.begin(), value.dims.end(),
                  [](auto size) { return size >= 0 && size != 1; }))
    return wrong_in(step.name, "condition: expected one element, tensor \"{}\" is {}", value.name,
                    to_text(value));
  return {};
}

result<void> compiler::type_output(const plan_step& step, const step_output& output,
                                   const signature& io) {
  auto& value = made_.values[output.value];
  tensor_signature given;
  if (output.port.empty()) {
    given.type = dtype::int64;
    given.dims = {-1};
    given.dim_names.resize(1);
  } else {
    given = port(io.outputs, output.port);
  }
  if (step.fans_out && !given.any_rank && given.dims.empty())
    return wrong_in(step.name, "output \"{}\" has no axis along which calls could be joined",
                    output.port);
  if (step.fans_out)
    given = before_cut(std::move(given));
  given.name = value.name;
  given.optional = false;
  if (output.otherwise) {
    const auto& other = made_.values[*output.otherwise];
    if (other.type != given.type)
      return wrong_in(step.name, "otherwise: tensor \"{}\" is {}, \"{}\" in its place is {}",
                      value.name, to_text(given), other.name, to_text(other));
    given = either(std::move(given), other);
  }
  value = std::move(given);
  return {};
}

} // namespace troupe::pipeline
