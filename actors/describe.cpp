#include "actors/describe.hpp"

namespace troupe::actors {

namespace {

std::vector<protocol::tensor_metadata> described(const std::vector<tensor_signature>& of) {
  std::vector<protocol::tensor_metadata> made;
  for (const auto& one : of)
    if (!one.internal)
      made.push_back({one.name, std::string{to_string(one.type)},
                      one.any_rank ? std::vector<std::int64_t>{-1} : one.dims});
  return made;
}

protocol::duration_statistic described(const telemetry::total& of) {
  return {of.count, static_cast<std::uint64_t>(of.time.count())};
}

result<std::vector<tensor_signature>> parsed(const std::vector<protocol::tensor_metadata>& of) {
  std::vector<tensor_signature> made;
  for (const auto& one : of) {
    const auto type = parse_dtype(one.datatype);
    if (!type)
      return fail(errc::invalid_argument, "stage: tensor \"{}\": {}", one.name, type.error().text);
    for (const auto& before : made)
      if (before.name == one.name)
        return fail(errc::invalid_argument, "stage: tensor \"{}\" is declared twice", one.name);
    auto& added = made.emplace_back();
    added.name = one.name;
    added.type = *type;
    added.dims = one.shape;
    added.dim_names.resize(one.shape.size());
  }
  return made;
}

} // namespace

protocol::model_metadata metadata_of(const served_model& served,
                                     const std::vector<model_ptr>& versions) {
  protocol::model_metadata made;
  made.name = served.name;
  for (const auto& one : versions)
    made.versions.push_back(one->version);
  made.platform = served.platform;
  made.inputs = described(served.io.inputs);
  made.outputs = described(served.io.outputs);
  made.properties = served.properties;
  return made;
}

protocol::model_statistics statistics_of(const served_model& served) {
  const auto now = served.probe->read();
  protocol::model_statistics made;
  made.name = served.name;
  made.version = served.version;
  made.inference_count = now.rows_answered;
  made.execution_count = now.batches;
  made.live_sequences = served.homes ? served.homes->size() : 0;
  made.success = described(now.success);
  made.fail = described(now.fail);
  made.queue = described(now.queue);
  made.compute_input = described(now.input);
  made.compute_infer = described(now.infer);
  made.compute_output = described(now.output);
  for (const auto& [rows, spent] : now.by_rows)
    made.batches.push_back({static_cast<std::uint64_t>(rows), described(spent)});
  return made;
}

result<signature> stage_io(const stage_signature& declared) {
  auto inputs = parsed(declared.inputs);
  if (!inputs)
    return propagate(std::move(inputs));
  auto outputs = parsed(declared.outputs);
  if (!outputs)
    return propagate(std::move(outputs));
  return signature{std::move(*inputs), std::move(*outputs), 0};
}

} // namespace troupe::actors
