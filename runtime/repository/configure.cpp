#include "runtime/repository/configure.hpp"

#include "runtime/repository/padded_lengths.hpp"
#include "runtime/repository/parameter_text.hpp"
#include "runtime/repository/sequence_rules.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace troupe::repository {

namespace {

result<void> merge_tensor(tensor_signature& into, const tensor_config& from, bool batched,
                          const std::string& what) {
  if (from.type && *from.type != into.type)
    return fail(errc::invalid_argument, "{}: data_type: the model has {}, the configuration {}",
                what, to_string(into.type), to_string(*from.type));
  if (from.dims.empty() && !into.dims.empty() && !batched)
    return {};
  const std::size_t first = batched ? 1 : 0;
  auto wrong = [&] {
    return fail(errc::invalid_argument, "{}: dims: the model has {}, the configuration {}{}", what,
                to_string(std::span{into.dims}), batched ? "[batch] + " : "",
                to_string(std::span{from.dims}));
  };
  if (from.dims.size() + first != into.dims.size())
    return from.dims.empty() ? result<void>{} : wrong();
  for (std::size_t axis = 0; axis < from.dims.size(); ++axis) {
    auto& size = into.dims[axis + first];
    if (size >= 0 && from.dims[axis] >= 0 && size != from.dims[axis])
      return wrong();
    if (size < 0)
      size = from.dims[axis];
  }
  return {};
}

result<void> merge_all(std::vector<tensor_signature>& into, const std::vector<tensor_config>& from,
                       bool batched, const model_folder& of, std::string_view kind) {
  for (const auto& one : from) {
    const auto at = std::find_if(into.begin(), into.end(),
                                 [&](const auto& declared) { return declared.name == one.name; });
    if (at == into.end()) {
      std::vector<std::string> names;
      for (const auto& declared : into)
        names.push_back(declared.name);
      return fail(errc::invalid_argument, "model {}: the file has no {} \"{}\"; it has: {}",
                  of.name, kind, one.name, fmt::join(names, ", "));
    }
    if (auto ok = merge_tensor(*at, one, batched,
                               fmt::format("model {}: {} \"{}\"", of.name, kind, one.name));
        !ok)
      return ok;
    at->optional = one.optional;
    if (!one.label_file.empty()) {
      auto labels = read_labels(of.folder / one.label_file);
      if (!labels)
        return propagate(std::move(labels));
      at->labels = std::move(*labels);
    }
  }
  return {};
}

const tensor_signature* without_free_rows(const signature& io) {
  for (const auto* side : {&io.inputs, &io.outputs})
    for (const auto& one : *side)
      if (one.dims.empty() || one.dims[0] >= 0)
        return &one;
  return nullptr;
}

result<void> set_batch_size(configured_model& made, const model_folder& of,
                            const std::string& why_rows_depend, const serving_defaults& defaults) {
  const auto& asked = of.config.max_batch_size;
  const auto* fixed = without_free_rows(made.io);
  if (asked && *asked > 0 && fixed)
    return fail(errc::invalid_argument,
                "model {}: max_batch_size is {}, but axis 0 of \"{}\" is not free: its shape is {}",
                of.name, *asked, fixed->name, to_string(std::span{fixed->dims}));
  if (asked)
    made.io.max_batch_size = *asked;
  else if (why_rows_depend.empty() && !fixed && !of.config.sequences)
    made.io.max_batch_size = defaults.max_batch;
  if (asked && *asked > 1 && !why_rows_depend.empty())
    made.notes.push_back(fmt::format("batches because max_batch_size says so; its rows are not "
                                     "proved independent: {}",
                                     why_rows_depend));
  if (!asked && made.io.max_batch_size == 0)
    made.notes.push_back(
        fixed ? fmt::format("does not batch: axis 0 of \"{}\" is not free", fixed->name)
              : fmt::format("does not batch: {}", why_rows_depend));
  return {};
}

result<void> set_batching(configured_model& made, const model_folder& of,
                          const serving_defaults& defaults) {
  made.batching = defaults.batching;
  made.max_queue_rows = defaults.max_queue_rows;
  if (const auto& said = of.config.dynamic_batching) {
    if (!said->preferred.empty() || said->max_queue_delay > duration{0}) {
      made.batching.min_rows = said->preferred.empty() ? made.batching.max_rows
                                                       : *std::min_element(said->preferred.begin(),
                                                                           said->preferred.end());
      made.batching.max_wait = said->max_queue_delay;
      made.batching.work_conserving = said->max_queue_delay == duration{0};
    }
    made.batching.preserve_ordering = said->preserve_ordering;
    made.priorities = said->priorities;
  }
  if (of.config.sequences)
    set_sequence_batching(made.batching, *of.config.sequences,
                          std::max<std::int64_t>(1, made.io.max_batch_size));
  if (const auto at = of.config.parameters.find("troupe.batching");
      at != of.config.parameters.end()) {
    auto preset = batching::preset(at->second);
    if (!preset)
      return fail(errc::invalid_argument, "model {}: troupe.batching: {}", of.name,
                  preset.error().text);
    const auto objective = made.batching.objective;
    made.batching = *preset;
    made.batching.objective = objective;
  }
  if (const auto at = of.config.parameters.find("troupe.slo_ms");
      at != of.config.parameters.end()) {
    auto slo = parse_numbers("troupe.slo_ms", at->second);
    if (!slo || slo->size() != 1)
      return fail(errc::invalid_argument,
                  "model {}: troupe.slo_ms: expected one positive number, got \"{}\"", of.name,
                  at->second);
    made.batching.objective = std::chrono::milliseconds{slo->front()};
  }
  const auto cap = std::max<std::int64_t>(1, made.io.max_batch_size);
  made.batching.max_rows = std::min(made.batching.max_rows, cap);
  made.batching.min_rows = std::min(made.batching.min_rows, made.batching.max_rows);
  return {};
}

result<void> set_parameters(configured_model& made, const model_folder& of) {
  constexpr std::string_view warm_up = "troupe.warmup.";
  constexpr std::array<std::string_view, 6> read_elsewhere{
      "troupe.batching", "troupe.buckets", "troupe.batch_invariant",
      "troupe.slo_ms",   "troupe.labels",  "troupe.split"};
  for (const auto& [key, value] : of.config.parameters) {
    if (!key.starts_with("troupe.") || is_padding_parameter(key)
        || std::ranges::count(read_elsewhere, key) > 0)
      continue;
    if (key == "troupe.softmax") {
      made.softmax = split_list(value);
      for (const auto& name : made.softmax)
        if (std::none_of(made.io.outputs.begin(), made.io.outputs.end(),
                         [&](const auto& one) { return one.name == name; }))
          return fail(errc::invalid_argument, "model {}: troupe.softmax: no output \"{}\"", of.name,
                      name);
      continue;
    }
    const auto input = key.starts_with(warm_up) ? key.substr(warm_up.size()) : std::string{};
    if (input.empty())
      return fail(
          errc::invalid_argument,
          "model {}: unknown parameter \"{}\"; known are troupe.softmax, troupe.pad.NAME.*, "
          "troupe.warmup.INPUT, {}",
          of.name, key, fmt::join(read_elsewhere, ", "));
    if (std::none_of(made.io.inputs.begin(), made.io.inputs.end(),
                     [&](const auto& one) { return one.name == input; }))
      return fail(errc::invalid_argument, "model {}: {}: no input \"{}\"", of.name, key, input);
    auto dims = parse_numbers(key, value);
    if (!dims)
      return propagate(std::move(dims));
    made.warm_up[input].assign(dims->begin(), dims->end());
  }
  return {};
}

} // namespace

result<std::vector<std::int64_t>> batch_buckets(const model_folder& of) {
  std::vector<std::int64_t> buckets;
  if (of.config.dynamic_batching)
    buckets = of.config.dynamic_batching->preferred;
  else if (of.config.sequences)
    buckets = of.config.sequences->preferred;
  if (const auto at = of.config.parameters.find("troupe.buckets");
      at != of.config.parameters.end()) {
    auto more = parse_numbers("troupe.buckets", at->second);
    if (!more)
      return more;
    buckets.insert(buckets.end(), more->begin(), more->end());
  }
  std::sort(buckets.begin(), buckets.end());
  buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
  return buckets;
}

result<bool> batch_invariant(const model_folder& of, bool unless_said) {
  const auto at = of.config.parameters.find("troupe.batch_invariant");
  if (at == of.config.parameters.end())
    return unless_said;
  if (at->second != "true" && at->second != "false")
    return fail(errc::invalid_argument,
                "model {}: troupe.batch_invariant: expected true or false, got \"{}\"", of.name,
                at->second);
  return at->second == "true";
}

result<configured_model> configure(const model_folder& of, const signature& declared,
                                   const std::string& why_rows_depend,
                                   const serving_defaults& defaults) {
  configured_model made;
  made.io = declared;
  made.notes = of.config.warnings;
  for (const auto* side : {&declared.inputs, &declared.outputs})
    for (const auto& one : *side)
      if (one.type == dtype::string)
        return fail(errc::unimplemented,
                    "model {}: \"{}\" is BYTES: only stages take and give those", of.name,
                    one.name);
  if (auto ok = set_batch_size(made, of, why_rows_depend, defaults); !ok)
    return propagate(std::move(ok));
  const bool batched = of.config.max_batch_size.value_or(0) > 0;
  if (auto ok = merge_all(made.io.inputs, of.config.inputs, batched, of, "input"); !ok)
    return propagate(std::move(ok));
  if (auto ok = merge_all(made.io.outputs, of.config.outputs, batched, of, "output"); !ok)
    return propagate(std::move(ok));
  if (auto ok = set_batching(made, of, defaults); !ok)
    return propagate(std::move(ok));
  if (auto ok = set_parameters(made, of); !ok)
    return propagate(std::move(ok));
  if (of.config.sequences) {
    auto rules = sequence_rules_of(of, made.io);
    if (!rules)
      return propagate(std::move(rules));
    made.sequences = std::make_shared<const sequences::rules>(std::move(*rules));
  }
  auto padding = padding_of(of, made.io);
  if (!padding)
    return propagate(std::move(padding));
  made.padding = std::move(*padding);
  return made;
}

} // namespace troupe::repository
