#include "protocol/rest/infer_json.hpp"

#include "protocol/rest/json_text.hpp"
#include "protocol/rest/tensor_json.hpp"
#include "protocol/tensor_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace troupe::protocol::rest {
namespace {

using element = simdjson::dom::element;
using object = simdjson::dom::object;
using json_type = simdjson::dom::element_type;

std::optional<element> find(const object& in, std::string_view key) {
  element found;
  if (in.at_key(key).get(found) != simdjson::SUCCESS || found.is_null())
    return std::nullopt;
  return found;
}

result<std::string> text_at(const object& in, std::string_view where, std::string_view key) {
  const auto found = find(in, key);
  std::string_view text;
  if (!found || found->get(text) != simdjson::SUCCESS)
    return fail(errc::invalid_argument, "{}: \"{}\" must be a string", where, key);
  return std::string{text};
}

result<parameter_map> parameters_of(const object& in, std::string_view where) {
  parameter_map all;
  const auto found = find(in, "parameters");
  if (!found)
    return all;
  object given;
  if (found->get(given) != simdjson::SUCCESS)
    return fail(errc::invalid_argument, "{}: \"parameters\" must be an object", where);
  for (const auto& [key, value] : given) {
    parameter held;
    switch (value.type()) {
      case json_type::BOOL: held = bool{value.get_bool().value_unsafe()}; break;
      case json_type::INT64: held = std::int64_t{value.get_int64().value_unsafe()}; break;
      case json_type::DOUBLE: held = double{value.get_double().value_unsafe()}; break;
      case json_type::STRING: held = std::string{value.get_string().value_unsafe()}; break;
      default:
        return fail(
            errc::invalid_argument,
            "{}: parameter \"{}\" must be a boolean, a 64-bit signed integer, a number or a string",
            where, key);
    }
    all.insert_or_assign(std::string{key}, std::move(held));
  }
  return all;
}

/// Takes a parameter of the wire's own out of the map.
template <class T>
result<std::optional<T>> take(parameter_map& from, std::string_view where, std::string_view key) {
  const auto entry = from.find(key);
  if (entry == from.end())
    return std::optional<T>{};
  const auto* value = std::get_if<T>(&entry->second);
  if (!value)
    return fail(errc::invalid_argument, "{}: parameter \"{}\" must be {}", where, key,
                std::is_same_v<T, bool> ? "a boolean" : "an integer");
  std::optional<T> taken{*value};
  from.erase(entry);
  return taken;
}

result<shape> shape_of(const object& in, std::string_view where) {
  const auto found = find(in, "shape");
  simdjson::dom::array sizes;
  if (!found || found->get(sizes) != simdjson::SUCCESS)
    return fail(errc::invalid_argument, "{}: \"shape\" must be an array", where);
  shape dims;
  for (const element each : sizes) {
    std::int64_t size = 0;
    if (each.type() != json_type::INT64 || each.get(size) != simdjson::SUCCESS)
      return fail(errc::invalid_argument, "{}: \"shape\" must hold integers", where);
    if (dims.size() == max_rank)
      return fail(errc::invalid_argument, "{} has more than {} axes", where, max_rank);
    dims.push_back(size);
  }
  return dims;
}

result<void> read_input(element from, std::size_t json_bytes, infer_json& into) {
  object in;
  if (from.get(in) != simdjson::SUCCESS)
    return fail(errc::invalid_argument, "request: \"inputs\" must hold objects");
  auto name = text_at(in, "input", "name");
  if (!name)
    return propagate(name);
  const auto where = fmt::format("input \"{}\"", *name);
  const auto datatype = text_at(in, where, "datatype");
  if (!datatype)
    return propagate(datatype);
  const auto type = parse_dtype(*datatype);
  if (!type)
    return fail(errc::invalid_argument, "{}: {}", where, type.error().text);
  auto dims = shape_of(in, where);
  if (!dims)
    return propagate(dims);
  auto parameters = parameters_of(in, where);
  if (!parameters)
    return propagate(parameters);
  const auto binary = take<std::int64_t>(*parameters, where, "binary_data_size");
  if (!binary)
    return propagate(binary);
  if (parameters->contains("shared_memory_region"))
    return fail(errc::unimplemented, "{}: shared memory is not built yet", where);

  named_tensor input{std::move(*name), {*type, std::move(*dims), {}}, std::move(*parameters)};
  const auto data = find(in, "data");
  if (data.has_value() == binary->has_value())
    return fail(errc::invalid_argument,
                "{} needs either \"data\" or the parameter \"binary_data_size\"", where);
  if (data) {
    auto bytes = read_elements(input.name, *data, *type, input.value.dims, json_bytes);
    if (!bytes)
      return propagate(bytes);
    input.value.data = std::move(*bytes);
  } else {
    if (**binary < 0)
      return fail(errc::invalid_argument, "{}: \"binary_data_size\" is negative", where);
    const auto bytes = static_cast<std::uint64_t>(**binary);
    if (auto claim = check_claim(input.name, *type, input.value.dims, bytes); !claim)
      return claim;
    if (bytes > std::numeric_limits<std::uint64_t>::max() / 2 - into.binary_total)
      return fail(errc::invalid_argument, "{}: \"binary_data_size\" is too large", where);
    into.binary.emplace_back(into.request.inputs.size(), bytes);
    into.binary_total += bytes;
  }
  into.request.inputs.push_back(std::move(input));
  return {};
}

result<void> read_output(element from, infer_json& into) {
  object in;
  if (from.get(in) != simdjson::SUCCESS)
    return fail(errc::invalid_argument, "request: \"outputs\" must hold objects");
  auto name = text_at(in, "requested output", "name");
  if (!name)
    return propagate(name);
  const auto where = fmt::format("requested output \"{}\"", *name);
  auto parameters = parameters_of(in, where);
  if (!parameters)
    return propagate(parameters);
  const auto binary = take<bool>(*parameters, where, "binary_data");
  if (!binary)
    return propagate(binary);
  if (parameters->contains("shared_memory_region"))
    return fail(errc::unimplemented, "{}: shared memory is not built yet", where);
  if (*binary)
    into.form.by_name.emplace_back(*name, **binary);
  into.request.outputs.push_back({std::move(*name), std::move(*parameters)});
  return {};
}

/// Calls `read` for each element of an array; a missing one is empty unless it is required.
template <class F>
result<void> read_list(const object& in, std::string_view key, bool required, std::size_t most,
                       F&& read) {
  const auto found = find(in, key);
  if (!found && !required)
    return {};
  simdjson::dom::array list;
  if (!found || found->get(list) != simdjson::SUCCESS)
    return fail(errc::invalid_argument, "request: \"{}\" must be an array", key);
  std::size_t count = 0;
  for (const element each : list) {
    if (++count > most)
      return fail(errc::resource_exhausted, "request: more than {} {}", most, key);
    if (auto done = read(each); !done)
      return done;
  }
  return {};
}

void append_parameters(std::string& to, const parameter_map& parameters,
                       std::optional<std::size_t> binary) {
  to += "\"parameters\":{";
  bool first = true;
  const auto key = [&](std::string_view name) {
    if (!std::exchange(first, false))
      to += ',';
    append_lossy(to, name);
    to += ':';
  };
  for (const auto& [name, value] : parameters) {
    key(name);
    if (const auto* flag = std::get_if<bool>(&value))
      to += *flag ? "true" : "false";
    else if (const auto* text = std::get_if<std::string>(&value))
      append_lossy(to, *text);
    else if (const auto* whole = std::get_if<std::int64_t>(&value))
      to += std::to_string(*whole);
    else if (const double real = std::get<double>(value); std::isfinite(real))
      to += fmt::format("{}", real);
    else
      to += "null";
  }
  if (binary) {
    key("binary_data_size");
    to += std::to_string(*binary);
  }
  to += "},";
}

bool wants_binary(const output_form& form, std::string_view name) {
  const auto found = std::ranges::find(form.by_name, name, &std::pair<std::string, bool>::first);
  return found == form.by_name.end() ? form.binary : found->second;
}

} // namespace

result<infer_json> decode_infer(std::string_view json, const limits& bounds) {
  simdjson::dom::parser parser;
  element root;
  auto failed = parser.allocate(std::max<std::size_t>(json.size(), 64), bounds.depth);
  if (!failed)
    failed = parser.parse(json.data(), json.size(), false).get(root);
  if (failed)
    return fail(errc::invalid_argument, "request is not JSON that can be read: {}",
                simdjson::error_message(failed));
  object in;
  if (root.get(in) != simdjson::SUCCESS)
    return fail(errc::invalid_argument, "request must be a JSON object");

  infer_json read;
  if (find(in, "id")) {
    auto id = text_at(in, "request", "id");
    if (!id)
      return propagate(id);
    read.request.id = std::move(*id);
  }
  auto parameters = parameters_of(in, "request");
  if (!parameters)
    return propagate(parameters);
  const auto binary = take<bool>(*parameters, "request", "binary_data_output");
  if (!binary)
    return propagate(binary);
  read.form.binary = binary->value_or(false);
  read.request.parameters = std::move(*parameters);
  auto done = read_list(in, "inputs", true, bounds.tensors,
                        [&](element each) { return read_input(each, json.size(), read); });
  if (done)
    done = read_list(in, "outputs", false, bounds.tensors,
                     [&](element each) { return read_output(each, read); });
  if (!done)
    return propagate(done);
  return read;
}

result<response> encode_infer(const inference_response& answer, const output_form& form) {
  response made;
  auto& to = made.body;
  const auto text = [&](std::string_view key, std::string_view value) {
    to += fmt::format("\"{}\":", key);
    append_lossy(to, value);
    to += ',';
  };
  to += '{';
  text("model_name", answer.model_name);
  text("model_version", answer.model_version);
  if (!answer.id.empty())
    text("id", answer.id);
  if (!answer.parameters.empty())
    append_parameters(to, answer.parameters, {});
  to += "\"outputs\":[";
  bool first = true;
  for (const auto& [name, value, parameters] : answer.outputs) {
    if (!std::exchange(first, false))
      to += ',';
    to += '{';
    text("name", name);
    text("datatype", to_string(value.type));
    to += fmt::format("\"shape\":{},", to_string(value.dims));
    const bool binary = wants_binary(form, name);
    if (binary || !parameters.empty())
      append_parameters(to, parameters, binary ? std::optional{value.data.size()} : std::nullopt);
    if (binary) {
      to.pop_back(); // the comma
      made.has_tail = true;
      made.tail.push_back(value.data);
    } else {
      to += "\"data\":";
      if (auto done = append_elements(to, name, value); !done)
        return propagate(done);
    }
    to += '}';
  }
  to += "]}";
  return made;
}

} // namespace troupe::protocol::rest
