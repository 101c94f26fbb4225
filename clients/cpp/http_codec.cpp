#include "clients/cpp/http_codec.hpp"

#include "protocol/tensor_check.hpp"

#include <nlohmann/json.hpp>

#include <cctype>
#include <cstring>

namespace troupe::client {
namespace {

using nlohmann::json;

json parameters_json(const protocol::parameter_map& parameters) {
  json all = json::object();
  for (const auto& [name, value] : parameters)
    std::visit([&, &key = name](const auto& held) { all[key] = held; }, value);
  return all;
}

protocol::parameter_map parameters_of(const json& from) {
  protocol::parameter_map all;
  const auto given = from.find("parameters");
  if (given == from.end() || !given->is_object())
    return all;
  for (const auto& [key, value] : given->items()) {
    if (key == "binary_data_size")
      continue;
    if (value.is_boolean())
      all[key] = value.get<bool>();
    else if (value.is_number_integer())
      all[key] = value.get<std::int64_t>();
    else if (value.is_number())
      all[key] = value.get<double>();
    else if (value.is_string())
      all[key] = value.get<std::string>();
  }
  return all;
}

/// Runs `read` on the reply's JSON; what nlohmann-json throws about an answer that lacks something
/// becomes an error here.
template <class F>
auto read_json(const http_reply& reply, F&& read) -> result<decltype(read(json{}))> {
  if (auto failed = failure_of(reply))
    return tl::unexpected<error>{std::move(*failed)};
  try {
    return read(json::parse(reply.json()));
  } catch (const json::exception& e) {
    return fail(errc::invalid_argument, "the server's answer cannot be read: {}", e.what());
  }
}

std::vector<protocol::tensor_metadata> tensors_of(const json& from) {
  std::vector<protocol::tensor_metadata> all;
  for (const auto& each : from)
    all.push_back({each.at("name"), each.at("datatype"), each.at("shape")});
  return all;
}

protocol::duration_statistic time_of(const json& from, const char* key) {
  return {from.at(key).at("count"), from.at(key).at("ns")};
}

} // namespace

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      encoded += c;
    } else {
      encoded += '%';
      encoded += digits[byte >> 4];
      encoded += digits[byte & 15u];
    }
  }
  return encoded;
}

std::string model_path(std::string_view model, std::string_view version) {
  auto path = "/v2/models/" + percent_encoded(model);
  if (!version.empty())
    path += "/versions/" + percent_encoded(version);
  return path;
}

std::string http_request::head(std::string_view host) const {
  std::size_t length = body.size();
  for (const auto& each : tail)
    length += each.size();
  auto text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", method, target, host);
  if (method == "POST")
    text += fmt::format("Content-Length: {}\r\n", length);
  if (!tail.empty())
    text += fmt::format(
        "Content-Type: application/octet-stream\r\nInference-Header-Content-Length: {}\r\n",
        body.size());
  else if (!body.empty())
    text += "Content-Type: application/json\r\n";
  return text + "\r\n";
}

http_request encode_infer(const inference_request& asked) {
  http_request made;
  made.method = "POST";
  made.target = model_path(asked.model_name, asked.model_version) + "/infer";
  json body;
  if (!asked.id.empty())
    body["id"] = asked.id;
  body["parameters"] = parameters_json(asked.parameters);
  body["parameters"]["binary_data_output"] = true;
  body["inputs"] = json::array();
  for (const auto& [name, value, parameters] : asked.inputs) {
    json input{{"name", name}, {"datatype", to_string(value.type)}, {"shape", json::array()}};
    for (const auto size : value.dims)
      input["shape"].push_back(size);
    input["parameters"] = parameters_json(parameters);
    input["parameters"]["binary_data_size"] = value.data.size();
    body["inputs"].push_back(std::move(input));
    made.tail.push_back(value.data);
  }
  for (const auto& each : asked.outputs)
    body["outputs"].push_back(
        {{"name", each.name}, {"parameters", parameters_json(each.parameters)}});
  made.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  return made;
}

result<inference_response> decode_infer(const http_reply& reply) {
  const auto binary = std::as_bytes(std::span{reply.body}).subspan(reply.json_bytes);
  std::size_t at = 0;
  auto read = read_json(reply, [&](const json& body) -> result<inference_response> {
    inference_response answer;
    answer.model_name = body.at("model_name");
    answer.model_version = body.value("model_version", "");
    answer.id = body.value("id", "");
    answer.parameters = parameters_of(body);
    for (const auto& output : body.at("outputs")) {
      protocol::named_tensor made;
      made.name = output.at("name");
      const auto type = parse_dtype(output.at("datatype").get<std::string>());
      if (!type)
        return propagate(type);
      made.value.type = *type;
      for (const std::int64_t size : output.at("shape"))
        made.value.dims.push_back(size);
      const std::size_t bytes = output.at("parameters").at("binary_data_size");
      if (bytes > binary.size() - at)
        return fail(errc::invalid_argument, "output \"{}\" announces {} bytes, {} are left",
                    made.name, bytes, binary.size() - at);
      made.value.data = copy_of(binary.subspan(at, bytes));
      at += bytes;
      made.parameters = parameters_of(output);
      if (auto done = protocol::check_tensor(made); !done)
        return propagate(done);
      answer.outputs.push_back(std::move(made));
    }
    return answer;
  });
  if (!read)
    return propagate(read);
  return std::move(*read);
}

std::optional<error> failure_of(const http_reply& reply) {
  if (reply.status >= 200 && reply.status < 300)
    return std::nullopt;
  error failed;
  switch (reply.status) {
    case 400:
    case 405:
    case 408:
    case 411:
    case 413:
    case 415:
    case 431: failed.code = errc::invalid_argument; break;
    case 401: failed.code = errc::unauthenticated; break;
    case 403: failed.code = errc::permission_denied; break;
    case 404: failed.code = errc::not_found; break;
    case 409: failed.code = errc::already_exists; break;
    case 429: failed.code = errc::resource_exhausted; break;
    case 499: failed.code = errc::cancelled; break;
    case 501: failed.code = errc::unimplemented; break;
    case 503: failed.code = errc::unavailable; break;
    case 504: failed.code = errc::deadline_exceeded; break;
    default: failed.code = errc::internal; break;
  }
  failed.retry_after_ms = reply.retry_after_s * 1000;
  const auto body = json::parse(reply.body, nullptr, false);
  if (body.is_object() && body.contains("error") && body["error"].is_string())
    failed.text = body["error"].get<std::string>();
  else
    failed.text = fmt::format("HTTP status {}", reply.status);
  return failed;
}

result<model_metadata> decode_metadata(const http_reply& reply) {
  return read_json(reply, [](const json& body) {
    model_metadata read;
    read.name = body.at("name");
    read.versions = body.value("versions", std::vector<std::string>{});
    read.platform = body.value("platform", "");
    read.inputs = tensors_of(body.at("inputs"));
    read.outputs = tensors_of(body.at("outputs"));
    if (body.contains("properties"))
      for (const auto& [key, value] : body["properties"].items())
        read.properties[key] = value.get<std::string>();
    return read;
  });
}

result<std::vector<model_index_entry>> decode_index(const http_reply& reply) {
  return read_json(reply, [](const json& body) {
    std::vector<model_index_entry> read;
    for (const auto& each : body)
      read.push_back({each.at("name"), each.value("version", ""), each.value("state", ""),
                      each.value("reason", "")});
    return read;
  });
}

result<std::vector<model_statistics>> decode_statistics(const http_reply& reply) {
  return read_json(reply, [](const json& body) {
    std::vector<model_statistics> read;
    for (const auto& each : body.at("model_stats")) {
      model_statistics one;
      one.name = each.at("name");
      one.version = each.at("version");
      one.inference_count = each.at("inference_count");
      one.execution_count = each.at("execution_count");
      one.live_sequences = each.value("live_sequences", std::uint64_t{0});
      const auto& times = each.at("inference_stats");
      one.success = time_of(times, "success");
      one.fail = time_of(times, "fail");
      one.queue = time_of(times, "queue");
      one.compute_input = time_of(times, "compute_input");
      one.compute_infer = time_of(times, "compute_infer");
      one.compute_output = time_of(times, "compute_output");
      for (const auto& batch : each.at("batch_stats"))
        one.batches.push_back({batch.at("batch_size"), time_of(batch, "compute_infer")});
      read.push_back(std::move(one));
    }
    return read;
  });
}

result<server_health> decode_server(const http_reply& reply) {
  return read_json(reply, [](const json& body) {
    server_health read;
    read.server = body.at("name");
    read.version = body.at("version");
    return read;
  });
}

} // namespace troupe::client
