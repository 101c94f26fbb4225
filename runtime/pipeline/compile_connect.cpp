// Every name of a step becomes a value of the plan or a port of its model.

#include "runtime/exec/client_tensors.hpp"
#include "runtime/pipeline/compiler.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace troupe::pipeline {

result<value_id> compiler::find(const std::string& step, std::string_view what,
                                const std::string& tensor) {
  const auto at = ids_.find(tensor);
  if (at != ids_.end()) {
    taken_.insert(at->second);
    return at->second;
  }
  std::vector<std::string> known;
  for (const auto& [name, id] : ids_)
    known.push_back(name);
  return wrong_in(step, "{}: no tensor \"{}\"; there are: {}", what, tensor,
                  fmt::join(known, ", "));
}

result<void> compiler::connect() {
  for (const auto& step : from_.steps) {
    auto made = connected(step);
    if (!made)
      return propagate(std::move(made));
    made_.steps.push_back(std::move(*made));
  }
  return {};
}

result<plan_step> compiler::connected(const step_definition& step) {
  auto found = models_(step.model, step.version);
  if (!found)
    return tl::unexpected<error>{
        {found.error().code,
         fmt::format("{}: step \"{}\": {}", from_.origin, step.name, found.error().text),
         found.error().retry_after_ms}};
  plan_step made;
  made.name = step.name;
  made.model = step.model;
  made.version = step.version;
  made.rows = step.rows;
  made.fans_out = !step.each_row_of.empty();
  if (auto ok = connect_inputs(made, step, *found); !ok)
    return propagate(std::move(ok));
  if (auto ok = connect_outputs(made, step, *found); !ok)
    return propagate(std::move(ok));
  if (step.when) {
    auto value = find(step.name, "condition", step.when->tensor);
    if (!value)
      return propagate(std::move(value));
    made.when = step_condition{*value, step.when->how, step.when->number, step.when->wanted};
  }
  ports_.push_back(std::move(*found));
  return made;
}

result<void> compiler::connect_inputs(plan_step& made, const step_definition& step,
                                      const signature& io) {
  std::set<std::string> given;
  for (const auto& input : step.inputs) {
    const auto* port = find_client_tensor(io.inputs, input.port);
    if (!port)
      return wrong_in(step.name, "model {} has no input \"{}\"", step.model, input.port);
    if (!given.insert(input.port).second)
      return wrong_in(step.name, "input \"{}\" is given twice", input.port);
    auto value = find(step.name, "input \"" + input.port + "\"", input.tensor);
    if (!value)
      return propagate(std::move(value));
    made.inputs.push_back({input.port, *value,
                           std::ranges::count(step.each_row_of, input.tensor) > 0, port->optional});
  }
  for (const auto& port : io.inputs)
    if (!port.optional && !port.internal && !given.contains(port.name))
      return wrong_in(step.name, "model {} takes an input \"{}\", which is not given", step.model,
                      port.name);
  for (const auto& tensor : step.each_row_of)
    if (std::none_of(step.inputs.begin(), step.inputs.end(),
                     [&](const auto& one) { return one.tensor == tensor; }))
      return wrong_in(step.name, "each_row_of: tensor \"{}\" is not among its inputs", tensor);
  return {};
}

result<void> compiler::connect_outputs(plan_step& made, const step_definition& step,
                                       const signature& io) {
  std::set<std::string> given;
  if (step.outputs.empty())
    return wrong_in(step.name, "outputs: expected at least one");
  for (const auto& output : step.outputs) {
    if (!find_client_tensor(io.outputs, output.port))
      return wrong_in(step.name, "model {} has no output \"{}\"", step.model, output.port);
    if (!given.insert(output.port).second)
      return wrong_in(step.name, "output \"{}\" is given twice", output.port);
    made.outputs.push_back({output.port, ids_.at(output.tensor), {}});
  }
  if (!step.row_counts.empty() && !made.fans_out)
    return wrong_in(step.name, "row_counts says nothing without each_row_of");
  if (!step.row_counts.empty())
    made.outputs.push_back({"", ids_.at(step.row_counts), {}});
  for (const auto& [tensor, other] : step.otherwise) {
    const auto at = std::find_if(
        made.outputs.begin(), made.outputs.end(),
        [&, &name = tensor](const auto& one) { return made_.values[one.value].name == name; });
    if (at == made.outputs.end())
      return wrong_in(step.name, "otherwise: tensor \"{}\" is not among its outputs", tensor);
    auto value = find(step.name, "otherwise", other);
    if (!value)
      return propagate(std::move(value));
    at->otherwise = *value;
  }
  return {};
}

} // namespace troupe::pipeline
