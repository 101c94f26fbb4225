#include "protocol/rest/answers.hpp"

#include "protocol/server_identity.hpp"

#include <nlohmann/json.hpp>

namespace troupe::protocol::rest {
namespace {

using nlohmann::json;

response answer_with(const json& body, int status = 200) {
  response answer;
  answer.status = status;
  answer.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  return answer;
}

json tensors(const std::vector<tensor_metadata>& from) {
  json list = json::array();
  for (const auto& each : from)
    list.push_back({{"name", each.name}, {"datatype", each.datatype}, {"shape", each.shape}});
  return list;
}

json time(const duration_statistic& from) {
  return {{"count", from.count}, {"ns", from.ns}};
}

} // namespace

response live_answer(bool live) {
  return answer_with({{"live", live}}, live ? 200 : 503);
}

response ready_answer(bool ready) {
  return answer_with({{"ready", ready}}, ready ? 200 : 503);
}

response model_ready_answer(std::string_view model, bool ready) {
  return answer_with({{"name", model}, {"ready", ready}}, ready ? 200 : 503);
}

response server_answer() {
  return answer_with(
      {{"name", server_name},
       {"version", server_version},
       {"extensions", {"binary_tensor_data", "model_repository", "parameters", "statistics"}}});
}

response metadata_answer(const model_metadata& model) {
  json body{{"name", model.name},
            {"versions", model.versions},
            {"platform", model.platform},
            {"inputs", tensors(model.inputs)},
            {"outputs", tensors(model.outputs)}};
  if (!model.properties.empty())
    body["properties"] = model.properties;
  return answer_with(body);
}

response index_answer(const std::vector<model_index_entry>& models, bool ready_only) {
  json list = json::array();
  for (const auto& each : models)
    if (!ready_only || each.state == "READY")
      list.push_back({{"name", each.name},
                      {"version", each.version},
                      {"state", each.state},
                      {"reason", each.reason}});
  return answer_with(list);
}

response statistics_answer(const std::vector<model_statistics>& models) {
  json list = json::array();
  for (const auto& each : models) {
    json batches = json::array();
    for (const auto& batch : each.batches)
      batches.push_back(
          {{"batch_size", batch.batch_size}, {"compute_infer", time(batch.compute_infer)}});
    list.push_back({{"name", each.name},
                    {"version", each.version},
                    {"inference_count", each.inference_count},
                    {"execution_count", each.execution_count},
                    {"live_sequences", each.live_sequences},
                    {"inference_stats",
                     {{"success", time(each.success)},
                      {"fail", time(each.fail)},
                      {"queue", time(each.queue)},
                      {"compute_input", time(each.compute_input)},
                      {"compute_infer", time(each.compute_infer)},
                      {"compute_output", time(each.compute_output)}}},
                    {"batch_stats", batches}});
  }
  return answer_with({{"model_stats", list}});
}

result<repository_request> decode_repository(std::string_view text) {
  repository_request read;
  if (text.empty())
    return read;
  // Depth is bounded by the size of the body, which the connection bounds.
  const auto body = json::parse(text, nullptr, false);
  if (!body.is_object())
    return fail(errc::invalid_argument, "the body must be empty or a JSON object");
  if (const auto ready = body.find("ready"); ready != body.end()) {
    if (!ready->is_boolean())
      return fail(errc::invalid_argument, "\"ready\" must be a boolean");
    read.ready_only = ready->get<bool>();
  }
  if (const auto given = body.find("parameters"); given != body.end() && given->is_object())
    for (const auto& [key, value] : given->items())
      if (key == "config" || key.starts_with("file:"))
        return fail(errc::unimplemented, "loading a model with \"{}\" is not built yet", key);
  return read;
}

} // namespace troupe::protocol::rest
