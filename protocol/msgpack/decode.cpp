#include "protocol/msgpack/decode.hpp"

#include "protocol/msgpack/value.hpp"
#include "protocol/tensor_check.hpp"

#include <limits>

namespace troupe::protocol::rpc {
namespace {

using object = ::msgpack::object;

/// Reads `{name, datatype, shape, byte_size, parameters?}` and appends it.
result<void> read_tensor(const object& from, std::string_view where,
                         std::vector<named_tensor>& tensors, std::vector<std::uint64_t>& sizes,
                         std::uint64_t& total) {
  auto name = text_at(from, where, "name");
  if (!name)
    return propagate(name);
  const auto place = fmt::format("{} \"{}\"", where, *name);
  const auto datatype = text_at(from, place, "datatype");
  if (!datatype)
    return propagate(datatype);
  const auto type = parse_dtype(*datatype);
  if (!type)
    return fail(errc::invalid_argument, "{}: {}", place, type.error().text);
  const auto dims = dims_at(from, place, "shape");
  if (!dims)
    return propagate(dims);
  const auto bytes = count_at(from, place, "byte_size");
  if (!bytes)
    return propagate(bytes);
  if (auto claim = check_claim(*name, *type, *dims, *bytes); !claim)
    return claim;
  if (*bytes > max_bin_bytes)
    return fail(errc::invalid_argument, "{}: {} bytes are more than a bin can hold", place, *bytes);
  auto parameters = parameters_at(from, place);
  if (!parameters)
    return propagate(parameters);
  named_tensor read;
  read.name = std::move(*name);
  read.value.type = *type;
  read.value.dims.assign(dims->begin(), dims->end());
  read.parameters = std::move(*parameters);
  tensors.push_back(std::move(read));
  sizes.push_back(*bytes);
  total += *bytes;
  return {};
}

/// The parts that a request's and a response's header have in common, read into either.
template <class Message>
result<void> read_common(const object& from, std::string_view where, Message& into) {
  auto name = text_at(from, where, "model_name");
  if (!name)
    return propagate(name);
  auto version = optional_text_at(from, where, "model_version");
  if (!version)
    return propagate(version);
  auto label = optional_text_at(from, where, "id");
  if (!label)
    return propagate(label);
  auto parameters = parameters_at(from, where);
  if (!parameters)
    return propagate(parameters);
  into.model_name = std::move(*name);
  into.model_version = std::move(*version);
  into.id = std::move(*label);
  into.parameters = std::move(*parameters);
  return {};
}

result<void> read_requested(const object& from, std::vector<requested_output>& outputs) {
  const auto* found = value::find(from, "outputs");
  if (!found || found->type == ::msgpack::type::NIL)
    return {};
  return for_each_at(from, "header", "outputs", [&](const object& each) -> result<void> {
    auto name = text_at(each, "requested output", "name");
    if (!name)
      return propagate(name);
    auto parameters = parameters_at(each, "requested output");
    if (!parameters)
      return propagate(parameters);
    outputs.push_back({std::move(*name), std::move(*parameters)});
    return {};
  });
}

result<void> count_payloads(std::size_t tensors, std::size_t payloads) {
  if (tensors != payloads)
    return fail(errc::invalid_argument, "header lists {} tensors, the frame carries {} payloads",
                tensors, payloads);
  return {};
}

} // namespace

result<request_header> decode_request_header(value_bytes bytes, std::size_t payloads) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  const auto& map = parsed->root();
  if (map.type != ::msgpack::type::MAP)
    return fail(errc::invalid_argument, "the header of infer must be a map");
  request_header read;
  if (auto done = read_common(map, "header", read.request); !done)
    return propagate(done);
  auto done = for_each_at(map, "header", "inputs", [&](const object& each) {
    return read_tensor(each, "input", read.request.inputs, read.sizes, read.total);
  });
  if (done)
    done = count_payloads(read.sizes.size(), payloads);
  if (done)
    done = read_requested(map, read.request.outputs);
  if (!done)
    return propagate(done);
  return read;
}

result<response_header> decode_response_header(value_bytes bytes, std::size_t payloads) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  response_header read;
  const auto& map = parsed->root();
  auto done = read_common(map, "response", read.response);
  if (done)
    done = for_each_at(map, "response", "outputs", [&](const object& each) {
      return read_tensor(each, "output", read.response.outputs, read.sizes, read.total);
    });
  if (done)
    done = count_payloads(read.sizes.size(), payloads);
  if (!done)
    return propagate(done);
  return read;
}

result<model_reference> decode_model(value_bytes bytes) {
  if (bytes.empty())
    return model_reference{};
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  if (parsed->root().type != ::msgpack::type::MAP)
    return fail(errc::invalid_argument, "params: expected a map with \"model_name\"");
  auto name = optional_text_at(parsed->root(), "params", "model_name");
  if (!name)
    return propagate(name);
  auto version = optional_text_at(parsed->root(), "params", "model_version");
  if (!version)
    return propagate(version);
  return model_reference{std::move(*name), std::move(*version)};
}

result<std::uint32_t> decode_cancel(value_bytes bytes) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  const auto id = count_at(parsed->root(), "params", "id");
  if (!id)
    return propagate(id);
  if (*id > std::numeric_limits<std::uint32_t>::max())
    return fail(errc::invalid_argument, "params: \"id\" must be below 2^32");
  return static_cast<std::uint32_t>(*id);
}

result<std::string> decode_string(value_bytes bytes) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  if (parsed->root().type != ::msgpack::type::STR)
    return fail(errc::invalid_argument, "expected a string");
  return std::string{parsed->root().via.str.ptr, parsed->root().via.str.size};
}

result<bool> decode_bool(value_bytes bytes) {
  const auto parsed = value::parse(bytes);
  if (!parsed)
    return propagate(parsed);
  if (parsed->root().type != ::msgpack::type::BOOLEAN)
    return fail(errc::invalid_argument, "expected true or false");
  return parsed->root().via.boolean;
}

bool is_nil(value_bytes bytes) noexcept {
  return bytes.size() == 1 && bytes[0] == std::byte{0xc0};
}

} // namespace troupe::protocol::rpc
