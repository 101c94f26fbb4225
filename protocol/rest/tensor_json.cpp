#include "protocol/rest/tensor_json.hpp"

#include "protocol/rest/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace troupe::protocol::rest {
namespace {

using element = simdjson::dom::element;
using json_type = simdjson::dom::element_type;

/// One number of JSON as an element of a tensor; false if it is none or out of range.
template <class T>
bool read_one(element from, T& into) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return from.get(into) == simdjson::SUCCESS;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (from.type() == json_type::STRING) {
      const std::string_view text = from.get_string().value_unsafe();
      if (text == "NaN")
        into = std::numeric_limits<T>::quiet_NaN();
      else if (text == "Infinity")
        into = std::numeric_limits<T>::infinity();
      else if (text == "-Infinity")
        into = -std::numeric_limits<T>::infinity();
      else
        return false;
      return true;
    }
    double value = 0;
    if (from.type() == json_type::BOOL || from.get(value) != simdjson::SUCCESS)
      return false;
    into = static_cast<T>(value);
    return std::isfinite(into);
  } else {
    if (from.type() == json_type::UINT64) {
      const std::uint64_t value = from.get_uint64().value_unsafe();
      into = static_cast<T>(value);
      return std::in_range<T>(value);
    }
    if (from.type() != json_type::INT64)
      return false;
    const std::int64_t value = from.get_int64().value_unsafe();
    into = static_cast<T>(value);
    return std::in_range<T>(value);
  }
}

/// Calls `leaf` for what is not an array, in order; stops when it says so.
template <class F>
bool for_each_leaf(element from, F& leaf) {
  if (from.type() != json_type::ARRAY)
    return leaf(from);
  const simdjson::dom::array list = from.get_array().value_unsafe();
  for (const element each : list)
    if (!for_each_leaf(each, leaf))
      return false;
  return true;
}

std::string shown(element from) {
  auto text = simdjson::to_string(from);
  if (text.size() > 40)
    text = text.substr(0, 40) + "…";
  return text;
}

template <class T>
result<shared_bytes> read_numbers(std::string_view name, element data, dtype type,
                                  std::size_t count) {
  auto block = allocate_aligned(count * sizeof(T));
  auto* const out = reinterpret_cast<T*>(block.get());
  std::size_t found = 0;
  std::optional<element> bad;
  auto leaf = [&](element from) {
    if (found < count && !read_one(from, out[found])) {
      bad = from;
      return false;
    }
    return ++found <= count;
  };
  for_each_leaf(data, leaf);
  if (bad)
    return fail(errc::invalid_argument, "input \"{}\": element {} is {}, which is no {}", name,
                found, shown(*bad), to_string(type));
  if (found != count)
    return fail(errc::invalid_argument, "input \"{}\": its shape has {} elements, its data {}",
                name, count, found > count ? "more" : std::to_string(found));
  const std::byte* const bytes = block.get();
  return shared_bytes{std::move(block), {bytes, count * sizeof(T)}};
}

result<shared_bytes> read_strings(std::string_view name, element data, std::size_t count) {
  std::string packed;
  std::size_t found = 0;
  std::optional<element> bad;
  auto leaf = [&](element from) {
    std::string_view text;
    if (from.get(text) != simdjson::SUCCESS) {
      bad = from;
      return false;
    }
    for (int shift = 0; shift < 32; shift += 8)
      packed += static_cast<char>(text.size() >> shift & 0xffu);
    packed += text;
    return ++found <= count;
  };
  for_each_leaf(data, leaf);
  if (bad)
    return fail(errc::invalid_argument, "input \"{}\": element {} is {}, BYTES are strings in JSON",
                name, found, shown(*bad));
  if (found != count)
    return fail(errc::invalid_argument, "input \"{}\": its shape has {} elements, its data {}",
                name, count, found > count ? "more" : std::to_string(found));
  return copy_of(std::as_bytes(std::span{packed}));
}

template <class T>
void append_number(std::string& to, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      to += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
      return;
    }
  }
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  to.append(text.data(), end);
}

template <class T>
void append_numbers(std::string& to, const tensor& from) {
  const auto values = elements_of<T>(from.data);
  to.reserve(to.size() + values.size() * (2 + sizeof(T)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0)
      to += ',';
    append_number(to, values[i]);
  }
}

void append_booleans(std::string& to, const tensor& from) {
  bool first = true;
  for (const auto byte : from.data.view) {
    if (!std::exchange(first, false))
      to += ',';
    to += byte == std::byte{0} ? "false" : "true";
  }
}

bool append_strings(std::string& to, const tensor& from) {
  auto rest = from.data.view;
  bool first = true;
  while (rest.size() >= 4) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
      length |= std::to_integer<std::size_t>(rest[i]) << (8 * i);
    rest = rest.subspan(4);
    if (length > rest.size())
      return false;
    if (!std::exchange(first, false))
      to += ',';
    if (!append_quoted(to, {reinterpret_cast<const char*>(rest.data()), length}))
      return false;
    rest = rest.subspan(length);
  }
  return rest.empty();
}

} // namespace

result<shared_bytes> read_elements(std::string_view name, element data, dtype type,
                                   const shape& dims, std::size_t json_bytes) {
  const auto counted = checked_element_count(dims);
  if (!counted)
    return fail(errc::invalid_argument, "input \"{}\": {}", name, counted.error().text);
  const auto count = static_cast<std::size_t>(*counted);
  if (data.type() != json_type::ARRAY)
    return fail(errc::invalid_argument, "input \"{}\": \"data\" must be an array", name);
  // An element takes two characters at least: a shape alone claims no memory.
  if (count > json_bytes / 2)
    return fail(errc::invalid_argument, "input \"{}\": its shape has {} elements, its data fewer",
                name, count);
  switch (type) {
    case dtype::boolean: return read_numbers<bool>(name, data, type, count);
    case dtype::uint8: return read_numbers<std::uint8_t>(name, data, type, count);
    case dtype::uint16: return read_numbers<std::uint16_t>(name, data, type, count);
    case dtype::uint32: return read_numbers<std::uint32_t>(name, data, type, count);
    case dtype::uint64: return read_numbers<std::uint64_t>(name, data, type, count);
    case dtype::int8: return read_numbers<std::int8_t>(name, data, type, count);
    case dtype::int16: return read_numbers<std::int16_t>(name, data, type, count);
    case dtype::int32: return read_numbers<std::int32_t>(name, data, type, count);
    case dtype::int64: return read_numbers<std::int64_t>(name, data, type, count);
    case dtype::float32: return read_numbers<float>(name, data, type, count);
    case dtype::float64: return read_numbers<double>(name, data, type, count);
    case dtype::string: return read_strings(name, data, count);
    case dtype::float16:
    case dtype::bfloat16: break;
  }
  return fail(errc::invalid_argument,
              "input \"{}\": {} does not travel as JSON; send it as binary data", name,
              to_string(type));
}

result<void> append_elements(std::string& to, std::string_view name, const tensor& from) {
  to += '[';
  switch (from.type) {
    case dtype::boolean: append_booleans(to, from); break;
    case dtype::uint8: append_numbers<std::uint8_t>(to, from); break;
    case dtype::uint16: append_numbers<std::uint16_t>(to, from); break;
    case dtype::uint32: append_numbers<std::uint32_t>(to, from); break;
    case dtype::uint64: append_numbers<std::uint64_t>(to, from); break;
    case dtype::int8: append_numbers<std::int8_t>(to, from); break;
    case dtype::int16: append_numbers<std::int16_t>(to, from); break;
    case dtype::int32: append_numbers<std::int32_t>(to, from); break;
    case dtype::int64: append_numbers<std::int64_t>(to, from); break;
    case dtype::float32: append_numbers<float>(to, from); break;
    case dtype::float64: append_numbers<double>(to, from); break;
    case dtype::string:
      if (!append_strings(to, from))
        return fail(
            errc::failed_precondition,
            "output \"{}\" holds bytes that are not UTF-8, which JSON cannot carry; ask for "
            "binary data",
            name);
      break;
    case dtype::float16:
    case dtype::bfloat16:
      return fail(errc::failed_precondition,
                  "output \"{}\" is {}, which does not travel as JSON; ask for binary data", name,
                  to_string(from.type));
  }
  to += ']';
  return {};
}

} // namespace troupe::protocol::rest
