#include "runtime/repository/ensemble.hpp"

#include "runtime/repository/parameter_text.hpp"

#include <map>

namespace troupe::repository {

namespace {

pipeline::border_tensor border_of(const tensor_config& from, bool batched) {
  pipeline::border_tensor made{from.name, from.name, from.type};
  made.optional = from.optional;
  if (batched || !from.dims.empty()) {
    made.dims.emplace();
    if (batched)
      made.dims->push_back(-1);
    made.dims->insert(made.dims->end(), from.dims.begin(), from.dims.end());
  }
  return made;
}

result<void> set_parameters(pipeline::definition& made, const model_folder& of) {
  for (const auto& [key, value] : of.config.parameters) {
    if (!key.starts_with("troupe."))
      continue;
    auto* number = key == "troupe.max_active"      ? &made.max_active
                   : key == "troupe.max_in_flight" ? &made.max_in_flight
                                                   : nullptr;
    if (!number)
      return fail(errc::invalid_argument,
                  "model {}: parameter \"{}\" is not for an ensemble; those are troupe.max_active, "
                  "troupe.max_in_flight",
                  of.name, key);
    const auto read = parse_number(value, 1);
    if (!read)
      return fail(errc::invalid_argument, "model {}: {}: {}", of.name, key, read.error().text);
    *number = static_cast<std::size_t>(*read);
  }
  return {};
}

} // namespace

result<pipeline::definition> ensemble_of(const model_folder& of) {
  pipeline::definition made;
  made.origin = "model " + of.name;
  made.platform = "ensemble";
  made.allow_unused = true;
  const bool batched = of.config.max_batch_size.value_or(0) > 0;
  for (const auto& one : of.config.inputs)
    made.inputs.push_back(border_of(one, batched));
  for (const auto& one : of.config.outputs)
    made.outputs.push_back(border_of(one, batched));
  std::map<std::string, int> calls;
  for (const auto& one : of.config.ensemble->steps) {
    auto& step = made.steps.emplace_back();
    const auto call = ++calls[one.model];
    step.name = call == 1 ? one.model : fmt::format("{}#{}", one.model, call);
    step.model = one.model;
    step.version = one.version;
    for (const auto& [port, tensor] : one.inputs)
      step.inputs.push_back({port, tensor});
    for (const auto& [port, tensor] : one.outputs)
      step.outputs.push_back({port, tensor});
  }
  if (auto ok = set_parameters(made, of); !ok)
    return propagate(std::move(ok));
  return made;
}

} // namespace troupe::repository
