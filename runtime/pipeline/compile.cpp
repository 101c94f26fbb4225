// From a declaration to a plan: names first, then the order of the steps, then types along it, then
// what is left over.

#include "runtime/pipeline/compiler.hpp"
#include "runtime/pipeline/order.hpp"
#include "runtime/pipeline/presence.hpp"
#include "runtime/pipeline/types.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace troupe::pipeline {

namespace {

constexpr std::size_t most_steps = 256;

} // namespace

result<std::shared_ptr<const plan>> compiler::run() {
  made_.max_active = from_.max_active;
  made_.max_in_flight = from_.max_in_flight;
  made_.max_fan_out = from_.max_fan_out;
  for (auto part :
       {&compiler::name_values, &compiler::connect, &compiler::sort, &compiler::type_inputs,
        &compiler::type_steps, &compiler::set_outputs, &compiler::check_unused})
    if (auto ok = (this->*part)(); !ok)
      return propagate(std::move(ok));
  if (auto ok = check_presence(made_, from_); !ok)
    return propagate(std::move(ok));
  return std::make_shared<const plan>(std::move(made_));
}

result<void> compiler::name_values() {
  if (from_.steps.empty() || from_.steps.size() > most_steps)
    return wrong("expected between 1 and {} steps, got {}", most_steps, from_.steps.size());
  if (from_.outputs.empty())
    return wrong("outputs: expected at least one");
  for (const auto& input : from_.inputs)
    if (auto id = add_value(input.name, by_client); !id)
      return propagate(std::move(id));
  std::set<std::string> names;
  for (std::size_t i = 0; i < from_.steps.size(); ++i) {
    const auto& step = from_.steps[i];
    if (!names.insert(step.name).second)
      return wrong("two steps are called \"{}\": name them", step.name);
    for (const auto& output : step.outputs)
      if (auto id = add_value(output.tensor, i); !id)
        return propagate(std::move(id));
    if (!step.row_counts.empty())
      if (auto id = add_value(step.row_counts, i); !id)
        return propagate(std::move(id));
  }
  return {};
}

result<value_id> compiler::add_value(const std::string& name, std::size_t maker) {
  const auto [at, fresh] = ids_.emplace(name, made_.values.size());
  if (!fresh) {
    const auto first = makers_[at->second];
    auto text = first == by_client ? std::string{"an input of the pipeline"}
                                   : "made by step \"" + from_.steps[first].name + "\"";
    if (maker == by_client)
      return wrong("input \"{}\": tensor \"{}\" is {} already", name, name, text);
    return wrong_in(from_.steps[maker].name, "output tensor \"{}\" is {} already", name, text);
  }
  makers_.push_back(maker);
  made_.values.emplace_back().name = name;
  return at->second;
}

result<void> compiler::sort() {
  needs_of needs(made_.steps.size());
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const auto& step = made_.steps[i];
    auto need = [&](value_id value) {
      if (makers_[value] != by_client)
        needs[i].push_back(makers_[value]);
    };
    for (const auto& input : step.inputs)
      need(input.value);
    for (const auto& output : step.outputs)
      if (output.otherwise)
        need(*output.otherwise);
    if (step.when)
      need(step.when->value);
  }
  const auto order = in_order(needs);
  if (!order) {
    std::vector<std::string> names;
    for (auto one : find_cycle(needs))
      names.push_back("\"" + made_.steps[one].name + "\"");
    return wrong("steps wait for each other in a circle: {}", fmt::join(names, " for "));
  }
  std::vector<plan_step> steps;
  std::vector<signature> ports;
  for (auto one : *order) {
    steps.push_back(std::move(made_.steps[one]));
    ports.push_back(std::move(ports_[one]));
  }
  made_.steps = std::move(steps);
  ports_ = std::move(ports);
  return {};
}

result<void> compiler::set_outputs() {
  std::set<std::string> names;
  for (const auto& output : from_.outputs) {
    if (!names.insert(output.name).second)
      return wrong("output \"{}\" is listed twice", output.name);
    const auto at = ids_.find(output.tensor);
    if (at == ids_.end())
      return wrong("output \"{}\": no step makes a tensor \"{}\"", output.name, output.tensor);
    taken_.insert(at->second);
    auto shown = made_.values[at->second];
    tensor_signature declared = shown;
    declared.type = output.type.value_or(shown.type);
    if (output.dims) {
      declared.dims = *output.dims;
      declared.any_rank = false;
    }
    if (!fits(shown, declared, {}))
      return wrong("output \"{}\" is declared as {}, tensor \"{}\" is {}", output.name,
                   to_text(declared), output.tensor, to_text(shown));
    declared.name = output.name;
    declared.dim_names.resize(declared.dims.size());
    made_.io.outputs.push_back(std::move(declared));
    made_.outputs.push_back(at->second);
  }
  return {};
}

result<void> compiler::check_unused() {
  for (value_id id = 0; id < made_.values.size(); ++id) {
    if (taken_.contains(id))
      continue;
    const auto& name = made_.values[id].name;
    auto text = makers_[id] == by_client
                    ? fmt::format("input \"{}\" is taken by no step", name)
                    : fmt::format("step \"{}\": output tensor \"{}\" is taken by nobody",
                                  from_.steps[makers_[id]].name, name);
    if (!from_.allow_unused)
      return wrong("{}", text);
    made_.notes.push_back(std::move(text));
  }
  return {};
}

result<std::shared_ptr<const plan>> compile(const definition& from, const find_signature& models) {
  return compiler{from, models}.run();
}

std::vector<std::string> models_of(const definition& from) {
  std::vector<std::string> names;
  for (const auto& step : from.steps)
    if (std::ranges::count(names, step.model) == 0)
      names.push_back(step.model);
  return names;
}

} // namespace troupe::pipeline
