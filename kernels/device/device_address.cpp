#include "kernels/device/device_address.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

result<device_address> parse_device_address(std::string_view text) {
  const auto colon = text.find(':');
  device_address address{std::string{text.substr(0, colon)}, {}};
  if (address.kind.empty())
    return fail(errc::invalid_argument, "device '{}': expected a kind such as cpu, found none",
                text);
  if (colon == std::string_view::npos)
    return address;
  auto rest = text.substr(colon + 1);
  while (true) {
    const auto comma = rest.find(',');
    const auto part = rest.substr(0, comma);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail(errc::invalid_argument, "device '{}': expected key=value, found '{}'", text,
                  part);
    std::string key{part.substr(0, equals)};
    if (std::ranges::any_of(address.options, [&](const auto& known) { return known.first == key; }))
      return fail(errc::invalid_argument, "device '{}': '{}' is given twice", text, key);
    address.options.emplace_back(std::move(key), std::string{part.substr(equals + 1)});
    if (comma == std::string_view::npos)
      return address;
    rest = rest.substr(comma + 1);
  }
}

result<std::int64_t> parse_device_number(std::string_view key, std::string_view value,
                                         std::int64_t limit) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure != std::errc{} || end != value.data() + value.size() || number < 0 || number > limit)
    return fail(errc::invalid_argument,
                "device option {}: expected a whole number from 0 to {}, found '{}'", key, limit,
                value);
  return number;
}

} // namespace troupe
