#include "runtime/pipeline/run.hpp"

#include "runtime/pipeline/holds.hpp"

#include <algorithm>

namespace troupe::pipeline {

template <class Visit>
void run::for_each_use(const plan_step& of, Visit visit) const {
  for (const auto& input : of.inputs)
    visit(input.value);
  for (const auto& output : of.outputs)
    if (output.otherwise)
      visit(*output.otherwise);
  if (of.when)
    visit(of.when->value);
}

result<run> run::begin(std::shared_ptr<const plan> of, std::vector<std::optional<tensor>> inputs,
                       const std::vector<std::string>& wanted) {
  run made{std::move(of), std::move(inputs)};
  const auto& plan = *made.plan_;
  std::vector<bool> needed(plan.values.size(), false);
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    if (!wanted.empty() && std::ranges::count(wanted, plan.io.outputs[i].name) == 0)
      continue;
    made.wanted_.push_back(i);
    needed[plan.outputs[i]] = true;
    ++made.values_[plan.outputs[i]].users;
  }
  for (auto i = plan.steps.size(); i-- > 0;) {
    const auto& step = plan.steps[i];
    if (std::none_of(step.outputs.begin(), step.outputs.end(),
                     [&](const auto& one) { return needed[one.value]; }))
      continue;
    made.steps_[i].now = state::waiting;
    made.for_each_use(step, [&](value_id value) {
      needed[value] = true;
      ++made.values_[value].users;
    });
  }
  for (auto& value : made.values_)
    if (value.users == 0)
      value.value.reset();
  if (auto ok = made.settle(); !ok)
    return propagate(std::move(ok));
  return made;
}

// In the order of the steps, one pass carries everything as far as it goes.
result<void> run::settle() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].now == state::waiting)
      if (auto ok = decide(i); !ok)
        return ok;
    if (steps_[i].now == state::stands_in)
      stand_in(i);
  }
  return {};
}

result<void> run::decide(std::size_t step) {
  const auto& about = plan_->steps[step];
  bool runs = true;
  if (about.when) {
    const auto& asked = values_[about.when->value];
    if (!asked.known)
      return {};
    runs = asked.value.has_value();
    if (runs) {
      auto answer = holds(*about.when, *asked.value);
      if (!answer)
        return fail(answer.error().code, "step \"{}\": condition: tensor \"{}\": {}", about.name,
                    plan_->values[about.when->value].name, answer.error().text);
      runs = *answer;
    }
  }
  for (const auto& input : about.inputs) {
    const auto& value = values_[input.value];
    if (!runs || (value.known && (value.value || input.optional)))
      continue;
    if (!value.known)
      return {};
    runs = false;
  }
  if (runs)
    return start(step);
  steps_[step].now = state::stands_in;
  return {};
}

result<void> run::start(std::size_t step) {
  const auto& about = plan_->steps[step];
  auto& now = steps_[step];
  now.now = state::calling;
  now.cutters.resize(about.inputs.size());
  std::optional<std::int64_t> rows;
  for (std::size_t i = 0; i < about.inputs.size(); ++i) {
    const auto& input = about.inputs[i];
    const auto& value = values_[input.value].value;
    if (!input.cut || !value)
      continue;
    auto cutter = row_cutter::over(*value);
    const auto& name = plan_->values[input.value].name;
    if (!cutter)
      return fail(errc::failed_precondition, "step \"{}\": tensor \"{}\": {}", about.name, name,
                  cutter.error().text);
    if (rows && *rows != cutter->rows())
      return fail(errc::failed_precondition,
                  "step \"{}\": tensor \"{}\" has {} rows, another one that is cut has {}",
                  about.name, name, cutter->rows(), *rows);
    rows = cutter->rows();
    now.cutters[i] = std::move(*cutter);
  }
  if (rows) {
    const auto calls = *rows / about.rows + (*rows % about.rows != 0 ? 1 : 0);
    if (calls > plan_->max_fan_out)
      return fail(errc::failed_precondition,
                  "step \"{}\": {} rows take {} calls, expected at most {} (max_fan_out)",
                  about.name, *rows, calls, plan_->max_fan_out);
    now.calls = static_cast<std::size_t>(calls);
  }
  now.missing = now.calls;
  now.parts.resize(now.calls);
  if (now.calls == 0)
    now.now = state::to_join;
  return {};
}

// What stands for the outputs of a step that does not run, as soon as that is known.
void run::stand_in(std::size_t step) {
  const auto& about = plan_->steps[step];
  for (const auto& output : about.outputs)
    if (output.otherwise && !values_[*output.otherwise].known)
      return;
  for (const auto& output : about.outputs)
    set(output.value, output.otherwise ? values_[*output.otherwise].value : std::nullopt);
  finish(step);
}

void run::set(value_id value, std::optional<tensor> made) {
  auto& to = values_[value];
  to.known = true;
  if (to.users > 0)
    to.value = std::move(made);
}

void run::finish(std::size_t step) {
  steps_[step] = {state::over, 0, 0, 0, {}, {}};
  for_each_use(plan_->steps[step], [this](value_id value) { release(value); });
}

void run::release(value_id value) {
  if (--values_[value].users == 0)
    values_[value].value.reset();
}

std::optional<sub_request> run::next() {
  if (in_flight_ >= plan_->max_in_flight)
    return {};
  for (auto i = steps_.size(); i-- > 0;) {
    auto& step = steps_[i];
    if (step.now != state::calling || step.sent == step.calls)
      continue;
    const auto& about = plan_->steps[i];
    sub_request made{i, step.sent++, {}};
    for (std::size_t at = 0; at < about.inputs.size(); ++at) {
      const auto& value = values_[about.inputs[at].value].value;
      if (!value)
        continue;
      const auto& cutter = step.cutters[at];
      const auto first = static_cast<std::int64_t>(made.part) * about.rows;
      made.inputs.push_back(
          {about.inputs[at].port,
           cutter ? cutter->cut(first, std::min(about.rows, cutter->rows() - first)) : *value});
    }
    ++in_flight_;
    return made;
  }
  return {};
}

result<void> run::answered(std::size_t step, std::size_t part, std::vector<named_value> outputs) {
  auto& now = steps_[step];
  --in_flight_;
  auto values = checked(plan_->steps[step], std::move(outputs));
  if (!values)
    return propagate(std::move(values));
  now.parts[part] = std::move(*values);
  if (--now.missing > 0)
    return {};
  if (!plan_->steps[step].fans_out)
    return joined(step, std::move(now.parts.front()));
  now.now = state::to_join;
  return {};
}

// A stage may answer anything; what is cut and joined later must be what it says it is.
result<std::vector<tensor>> run::checked(const plan_step& step,
                                         std::vector<named_value> outputs) const {
  std::vector<tensor> made;
  for (const auto& output : step.outputs) {
    if (output.port.empty())
      continue; // last; counted when the calls are joined
    const auto at = std::find_if(outputs.begin(), outputs.end(),
                                 [&](const auto& one) { return one.name == output.port; });
    if (at == outputs.end())
      return fail(errc::internal, "step \"{}\": model {} answered without its output \"{}\"",
                  step.name, step.model, output.port);
    const auto& declared = plan_->values[output.value];
    if (at->value.type != declared.type)
      return fail(errc::failed_precondition,
                  "step \"{}\": output \"{}\" of model {}: expected {}, got {}", step.name,
                  output.port, step.model, to_string(declared.type), to_string(at->value.type));
    if (auto ok = check_payload(at->value); !ok)
      return fail(errc::internal, "step \"{}\": output \"{}\" of model {}: {}", step.name,
                  output.port, step.model, ok.error().text);
    made.push_back(std::move(at->value));
  }
  const bool counted = step.outputs.back().port.empty();
  for (std::size_t i = 0; step.fans_out && i < made.size(); ++i)
    if (made[i].dims.empty() || (counted && made[i].dims[0] != made.front().dims[0]))
      return fail(errc::failed_precondition,
                  "step \"{}\": output \"{}\" of model {}: expected rows{}, got shape {}",
                  step.name, step.outputs[i].port, step.model,
                  counted ? ", as many as of the other outputs" : "", to_string(made[i].dims));
  return made;
}

std::optional<join_work> run::next_join() {
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (auto& step = steps_[i]; step.now == state::to_join) {
      step.now = state::joining;
      return join_work{i, std::move(step.parts), plan_};
    }
  return {};
}

result<void> run::joined(std::size_t step, std::vector<tensor> outputs) {
  const auto& about = plan_->steps[step];
  for (std::size_t i = 0; i < about.outputs.size(); ++i)
    set(about.outputs[i].value, std::move(outputs[i]));
  finish(step);
  return settle();
}

bool run::done() const noexcept {
  return std::all_of(wanted_.begin(), wanted_.end(),
                     [this](auto one) { return values_[plan_->outputs[one]].known; });
}

std::vector<named_value> run::outputs() const {
  std::vector<named_value> made;
  for (auto one : wanted_)
    if (const auto& value = values_[plan_->outputs[one]].value)
      made.push_back({plan_->io.outputs[one].name, *value});
  return made;
}

} // namespace troupe::pipeline
