#include "runtime/repository/model_config.hpp"

#include "runtime/repository/schema_types.hpp"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace troupe::repository {

namespace {

constexpr std::size_t max_text = std::size_t{1} << 20;
constexpr int max_nesting = 32;

class collector final : public google::protobuf::io::ErrorCollector {
public:
  explicit collector(std::string_view origin) : origin_(origin) {}

  // Lines and columns come counted from 0.
  void AddError(int line, int column, const std::string& message) override {
    if (first_error.empty())
      first_error = fmt::format("{}:{}:{}: {}", origin_, line + 1, column + 1, message);
  }
  void AddWarning(int line, int column, const std::string& message) override {
    warnings.push_back(
        fmt::format("{}:{}:{}: skipped: {}", origin_, line + 1, column + 1, message));
  }

  std::string first_error;
  std::vector<std::string> warnings;

private:
  std::string_view origin_;
};

result<void> check_backend(const schema::ModelConfig& in, std::string_view origin) {
  if (in.has_ensemble_scheduling() != (in.platform() == "ensemble"))
    return fail(errc::invalid_argument,
                "{}: platform \"{}\": expected ensemble_scheduling and platform \"ensemble\", both "
                "or neither",
                origin, in.platform());
  if (in.has_ensemble_scheduling())
    return {};
  static constexpr std::array accepted{"", "onnxruntime_onnx", "onnxruntime", "onnx", "troupe"};
  for (const auto& [field, value] :
       {std::pair{"platform", in.platform()}, std::pair{"backend", in.backend()}}) {
    bool known = false;
    for (const auto* one : accepted)
      known = known || value == one;
    if (!known)
      return fail(errc::unimplemented, "{}: {} \"{}\": expected one that runs ONNX files ({})",
                  origin, field, value, "onnxruntime_onnx, onnxruntime, onnx, troupe");
  }
  return {};
}

result<void> check_refused(const schema::ModelConfig& in, std::string_view origin) {
  auto refused = [&](std::string_view what) {
    return fail(errc::unimplemented, "{}: {} is not supported", origin, what);
  };
  if (in.batch_input_size() > 0 || in.batch_output_size() > 0)
    return refused("batch_input and batch_output");
  for (const auto& one : in.input()) {
    if (one.has_reshape())
      return refused("reshape of input \"" + one.name() + "\"");
    if (one.allow_ragged_batch())
      return refused("allow_ragged_batch of input \"" + one.name() + "\"");
  }
  for (const auto& one : in.output())
    if (one.has_reshape())
      return refused("reshape of output \"" + one.name() + "\"");
  return {};
}

template <class Tensors>
result<std::vector<tensor_config>> tensors_of(const Tensors& in, std::string_view what,
                                              std::string_view origin) {
  std::vector<tensor_config> made;
  for (const auto& one : in) {
    if (one.name().empty())
      return fail(errc::invalid_argument, "{}: an {} has no name", origin, what);
    for (const auto& before : made)
      if (before.name == one.name())
        return fail(errc::invalid_argument, "{}: {} \"{}\" is listed twice", origin, what,
                    one.name());
    auto& added = made.emplace_back();
    added.name = one.name();
    added.type = type_of(one.data_type());
    added.dims.assign(one.dims().begin(), one.dims().end());
    for (auto size : added.dims)
      if (size < -1)
        return fail(errc::invalid_argument, "{}: {} \"{}\": dims: expected -1 or a size, got {}",
                    origin, what, one.name(), size);
    if constexpr (requires { one.label_filename(); })
      added.label_file = one.label_filename();
    if constexpr (requires { one.optional(); })
      added.optional = one.optional();
  }
  return made;
}

constexpr std::uint64_t hour_us = 3'600'000'000;

result<batching::queue_policy> queue_of(const schema::ModelQueuePolicy& in,
                                        std::string_view origin) {
  if (in.default_timeout_microseconds() > hour_us)
    return fail(errc::invalid_argument,
                "{}: default_timeout_microseconds: expected at most an hour, got {}", origin,
                in.default_timeout_microseconds());
  batching::queue_policy made;
  made.action = in.timeout_action() == schema::ModelQueuePolicy::DELAY
                    ? batching::queue_policy::overdue::delay
                    : batching::queue_policy::overdue::reject;
  made.timeout = std::chrono::microseconds{in.default_timeout_microseconds()};
  made.allow_override = in.allow_timeout_override();
  made.max_requests = in.max_queue_size();
  return made;
}

result<batching::priority_rules> priorities_of(const schema::ModelDynamicBatching& in,
                                               std::string_view origin) {
  constexpr std::uint64_t most_levels = 1000;
  if (in.priority_levels() > most_levels || in.default_priority_level() > in.priority_levels())
    return fail(errc::invalid_argument,
                "{}: priority_levels: expected at most {}, and a default_priority_level within "
                "them, got {} and {}",
                origin, most_levels, in.priority_levels(), in.default_priority_level());
  batching::priority_rules made;
  made.levels = static_cast<std::uint32_t>(in.priority_levels());
  made.default_level = static_cast<std::uint32_t>(in.default_priority_level());
  auto standard = queue_of(in.default_queue_policy(), origin);
  if (!standard)
    return propagate(std::move(standard));
  made.standard = *standard;
  for (const auto& [level, policy] : in.priority_queue_policy()) {
    if (level < 1 || level > in.priority_levels())
      return fail(errc::invalid_argument,
                  "{}: priority_queue_policy: expected a level from 1 to {}, got {}", origin,
                  in.priority_levels(), level);
    auto one = queue_of(policy, origin);
    if (!one)
      return propagate(std::move(one));
    made.by_level.emplace(static_cast<std::uint32_t>(level), *one);
  }
  return made;
}

result<dynamic_batching_config> batching_of(const schema::ModelDynamicBatching& in,
                                            std::string_view origin) {
  dynamic_batching_config made;
  for (auto rows : in.preferred_batch_size()) {
    if (rows < 1)
      return fail(errc::invalid_argument, "{}: preferred_batch_size: expected at least 1, got {}",
                  origin, rows);
    made.preferred.push_back(rows);
  }
  if (in.max_queue_delay_microseconds() > hour_us)
    return fail(errc::invalid_argument,
                "{}: max_queue_delay_microseconds: expected at most an hour, got {}", origin,
                in.max_queue_delay_microseconds());
  made.max_queue_delay = std::chrono::microseconds{in.max_queue_delay_microseconds()};
  made.preserve_ordering = in.preserve_ordering();
  auto priorities = priorities_of(in, origin);
  if (!priorities)
    return propagate(std::move(priorities));
  made.priorities = std::move(*priorities);
  return made;
}

result<ensemble_config> ensemble_of(const schema::ModelEnsembling& in, std::string_view origin) {
  ensemble_config made;
  for (const auto& one : in.step()) {
    if (one.model_name().empty())
      return fail(errc::invalid_argument, "{}: ensemble_scheduling: a step has no model_name",
                  origin);
    if (!one.model_namespace().empty())
      return fail(errc::unimplemented, "{}: ensemble_scheduling: model_namespace is not supported",
                  origin);
    if (one.model_version() < -1)
      return fail(errc::invalid_argument,
                  "{}: ensemble_scheduling: model_version: expected -1 or a number, got {}", origin,
                  one.model_version());
    auto& step = made.steps.emplace_back();
    step.model = one.model_name();
    if (one.model_version() > 0) // 0 is what an absent field says: the latest, as -1
      step.version = std::to_string(one.model_version());
    step.inputs.insert(one.input_map().begin(), one.input_map().end());
    step.outputs.insert(one.output_map().begin(), one.output_map().end());
  }
  return made;
}

constexpr int most_instances = 1024;

result<instance_group> group_of(const schema::ModelInstanceGroup& in, std::string_view origin) {
  if (in.count() < 0 || in.count() > most_instances)
    return fail(errc::invalid_argument,
                "{}: instance_group: count: expected a number from 1 to {}, got {}", origin,
                most_instances, in.count());
  instance_group made;
  made.count = in.count();
  if (in.kind() == schema::ModelInstanceGroup::KIND_CPU)
    made.on = instance_group::kind::cpu;
  if (in.kind() == schema::ModelInstanceGroup::KIND_GPU)
    made.on = instance_group::kind::gpu;
  made.gpus.assign(in.gpus().begin(), in.gpus().end());
  if (made.on == instance_group::kind::cpu && !made.gpus.empty())
    return fail(errc::invalid_argument, "{}: instance_group: gpus of KIND_CPU", origin);
  made.priority = in.rate_limiter().priority();
  for (const auto& one : in.rate_limiter().resources()) {
    if (one.name().empty() || one.count() < 1)
      return fail(errc::invalid_argument,
                  "{}: rate_limiter: resources: expected a name and a count of at least 1", origin);
    if (std::any_of(made.resources.begin(), made.resources.end(),
                    [&](const auto& before) { return before.name == one.name(); }))
      return fail(errc::invalid_argument, "{}: rate_limiter: resource \"{}\" is listed twice",
                  origin, one.name());
    made.resources.push_back({one.name(), one.global(), one.count()});
  }
  return made;
}

version_policy versions_of(const schema::ModelVersionPolicy& in) {
  version_policy made;
  if (in.has_all())
    made.which = version_policy::kind::all;
  if (in.has_latest())
    made.latest = std::max(1u, in.latest().num_versions());
  if (in.has_specific()) {
    made.which = version_policy::kind::specific;
    made.specific.assign(in.specific().versions().begin(), in.specific().versions().end());
  }
  return made;
}

} // namespace

result<model_config> parse_model_config(std::string_view text, std::string_view origin) {
  if (text.size() > max_text)
    return fail(errc::invalid_argument, "{}: expected at most {} bytes, got {}", origin, max_text,
                text.size());
  schema::ModelConfig in;
  collector said{origin};
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(max_nesting);
  parser.RecordErrorsTo(&said);
  if (!parser.ParseFromString(std::string{text}, &in))
    return fail(errc::invalid_argument, "{}",
                said.first_error.empty() ? std::string{origin} + ": not in protobuf text format"
                                         : said.first_error);
  if (auto ok = check_backend(in, origin); !ok)
    return propagate(std::move(ok));
  if (auto ok = check_refused(in, origin); !ok)
    return propagate(std::move(ok));
  model_config made;
  made.name = in.name();
  made.warnings = std::move(said.warnings);
  if (in.has_max_batch_size()) {
    if (in.max_batch_size() < 0)
      return fail(errc::invalid_argument, "{}: max_batch_size: expected 0 or more, got {}", origin,
                  in.max_batch_size());
    made.max_batch_size = in.max_batch_size();
  }
  auto inputs = tensors_of(in.input(), "input", origin);
  if (!inputs)
    return propagate(std::move(inputs));
  made.inputs = std::move(*inputs);
  auto outputs = tensors_of(in.output(), "output", origin);
  if (!outputs)
    return propagate(std::move(outputs));
  made.outputs = std::move(*outputs);
  if (!in.default_model_filename().empty())
    made.model_file = in.default_model_filename();
  const auto& file = made.model_file;
  if (file.find('/') != std::string::npos || file == "." || file == "..")
    return fail(errc::invalid_argument,
                "{}: default_model_filename: expected a name in the version's folder, got \"{}\"",
                origin, file);
  if (in.has_dynamic_batching()) {
    auto batching = batching_of(in.dynamic_batching(), origin);
    if (!batching)
      return propagate(std::move(batching));
    made.dynamic_batching = std::move(*batching);
  }
  if (in.has_ensemble_scheduling()) {
    auto ensemble = ensemble_of(in.ensemble_scheduling(), origin);
    if (!ensemble)
      return propagate(std::move(ensemble));
    made.ensemble = std::move(*ensemble);
    if (made.dynamic_batching)
      return fail(errc::invalid_argument,
                  "{}: an ensemble does not batch: dynamic_batching is for its models", origin);
  }
  if (in.has_sequence_batching()) {
    if (made.dynamic_batching || made.ensemble)
      return fail(errc::invalid_argument,
                  "{}: expected one of dynamic_batching, sequence_batching and "
                  "ensemble_scheduling, got more",
                  origin);
    auto sequences = sequences_of(in.sequence_batching(), origin);
    if (!sequences)
      return propagate(std::move(sequences));
    made.sequences = std::move(*sequences);
  }
  for (const auto& one : in.instance_group()) {
    auto group = group_of(one, origin);
    if (!group)
      return propagate(std::move(group));
    made.instance_groups.push_back(std::move(*group));
  }
  made.versions = versions_of(in.version_policy());
  for (const auto& [key, value] : in.parameters())
    made.parameters[key] = value.string_value();
  return made;
}

} // namespace troupe::repository
