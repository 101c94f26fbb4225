#include "protocol/msgpack/value.hpp"

#include <exception>
#include <limits>
#include <optional>

namespace troupe::protocol::rpc {
namespace {

namespace kind = ::msgpack::type;

std::string_view text_of(const ::msgpack::object& from) noexcept {
  return {from.via.str.ptr, from.via.str.size};
}

std::optional<std::int64_t> integer_of(const ::msgpack::object& from) noexcept {
  if (from.type == kind::NEGATIVE_INTEGER)
    return from.via.i64;
  if (from.type == kind::POSITIVE_INTEGER
      && from.via.u64 <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return static_cast<std::int64_t>(from.via.u64);
  return std::nullopt;
}

} // namespace

result<value> value::parse(value_bytes bytes) {
  if (bytes.empty())
    return fail(errc::invalid_argument, "a value is missing");
  // The scanner has been here: what the bytes claim, they hold. The library reports by exception.
  try {
    value parsed;
    std::size_t end = 0;
    ::msgpack::unpack(parsed.handle_, reinterpret_cast<const char*>(bytes.data()), bytes.size(),
                      end, [](kind::object_type, std::size_t, void*) { return true; });
    if (end != bytes.size())
      return fail(errc::invalid_argument, "{} bytes follow a value", bytes.size() - end);
    return parsed;
  } catch (const ::msgpack::unpack_error& e) {
    return fail(errc::invalid_argument, "not a MessagePack value: {}", e.what());
  }
}

const ::msgpack::object* value::find(const ::msgpack::object& map, std::string_view key) noexcept {
  const ::msgpack::object* found = nullptr;
  if (map.type == kind::MAP)
    for (const auto& entry : map.via.map)
      if (entry.key.type == kind::STR && text_of(entry.key) == key)
        found = &entry.val;
  return found;
}

result<std::string> text_at(const ::msgpack::object& map, std::string_view where,
                            std::string_view key) {
  const auto* found = value::find(map, key);
  if (!found || found->type != kind::STR)
    return fail(errc::invalid_argument, "{}: \"{}\" must be a string", where, key);
  return std::string{text_of(*found)};
}

result<std::string> optional_text_at(const ::msgpack::object& map, std::string_view where,
                                     std::string_view key) {
  const auto* found = value::find(map, key);
  if (!found || found->type == kind::NIL)
    return std::string{};
  return text_at(map, where, key);
}

result<std::uint64_t> count_at(const ::msgpack::object& map, std::string_view where,
                               std::string_view key) {
  const auto* found = value::find(map, key);
  if (!found || found->type != kind::POSITIVE_INTEGER)
    return fail(errc::invalid_argument, "{}: \"{}\" must be an integer that is not negative", where,
                key);
  return found->via.u64;
}

result<bool> flag_at(const ::msgpack::object& map, std::string_view where, std::string_view key) {
  const auto* found = value::find(map, key);
  if (!found || found->type != kind::BOOLEAN)
    return fail(errc::invalid_argument, "{}: \"{}\" must be true or false", where, key);
  return found->via.boolean;
}

result<std::vector<std::int64_t>> dims_at(const ::msgpack::object& map, std::string_view where,
                                          std::string_view key) {
  std::vector<std::int64_t> dims;
  auto done = for_each_at(map, where, key, [&](const ::msgpack::object& each) -> result<void> {
    const auto size = integer_of(each);
    if (!size)
      return fail(errc::invalid_argument, "{}: \"{}\" must hold integers", where, key);
    dims.push_back(*size);
    return {};
  });
  if (!done)
    return propagate(done);
  return dims;
}

result<parameter_map> parameters_at(const ::msgpack::object& map, std::string_view where) {
  parameter_map all;
  const auto* found = value::find(map, "parameters");
  if (!found || found->type == kind::NIL)
    return all;
  if (found->type != kind::MAP)
    return fail(errc::invalid_argument, "{}: \"parameters\" must be a map", where);
  for (const auto& entry : found->via.map) {
    if (entry.key.type != kind::STR)
      return fail(errc::invalid_argument, "{}: a parameter's name must be a string", where);
    parameter held;
    const auto& given = entry.val;
    if (given.type == kind::BOOLEAN)
      held = given.via.boolean;
    else if (given.type == kind::STR)
      held = std::string{text_of(given)};
    else if (given.type == kind::FLOAT32 || given.type == kind::FLOAT64)
      held = given.via.f64;
    else if (const auto integer = integer_of(given))
      held = *integer;
    else
      return fail(
          errc::invalid_argument,
          "{}: parameter \"{}\" must be a bool, a 64-bit signed integer, a float or a string",
          where, text_of(entry.key));
    all.insert_or_assign(std::string{text_of(entry.key)}, std::move(held));
  }
  return all;
}

} // namespace troupe::protocol::rpc
