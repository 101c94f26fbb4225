#include "protocol/tensor_check.hpp"

#include <limits>

namespace troupe::protocol {
namespace {

constexpr std::uint64_t prefix_bytes = 4;

result<void> check_strings(const named_tensor& checked, std::uint64_t expected) {
  const auto bytes = checked.value.data.view;
  std::uint64_t found = 0;
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (bytes.size() - at < prefix_bytes)
      return fail(errc::invalid_argument,
                  "tensor \"{}\": BYTES element {} has {} bytes left for its 4-byte length",
                  checked.name, found, bytes.size() - at);
    std::size_t length = 0;
    for (std::size_t i = 0; i < prefix_bytes; ++i)
      length |= std::to_integer<std::size_t>(bytes[at + i]) << (8 * i);
    at += prefix_bytes;
    if (length > bytes.size() - at)
      return fail(errc::invalid_argument,
                  "tensor \"{}\": BYTES element {} claims {} bytes, {} are left", checked.name,
                  found, length, bytes.size() - at);
    at += length;
    ++found;
  }
  if (found != expected)
    return fail(errc::invalid_argument, "tensor \"{}\": shape {} has {} elements, its data {}",
                checked.name, to_string(checked.value.dims), expected, found);
  return {};
}

} // namespace

result<void> check_claim(const std::string& name, dtype type, std::span<const std::int64_t> dims,
                         std::uint64_t bytes) {
  if (dims.size() > max_rank)
    return fail(errc::invalid_argument, "tensor \"{}\" has {} axes, more than {}", name,
                dims.size(), max_rank);
  const auto counted = checked_element_count(dims);
  if (!counted)
    return fail(errc::invalid_argument, "tensor \"{}\": {}", name, counted.error().text);
  const auto elements = static_cast<std::uint64_t>(*counted);
  if (type == dtype::string) {
    if (bytes < elements * prefix_bytes)
      return fail(errc::invalid_argument,
                  "tensor \"{}\": shape {} needs at least {} bytes of BYTES, got {}", name,
                  to_string(dims), elements * prefix_bytes, bytes);
    return {};
  }
  if (bytes != elements * size_of(type))
    return fail(errc::invalid_argument, "tensor \"{}\": {} of shape {} takes {} bytes, got {}",
                name, to_string(type), to_string(dims), elements * size_of(type), bytes);
  return {};
}

result<void> check_tensor(const named_tensor& checked) {
  const auto& value = checked.value;
  if (auto claim = check_claim(checked.name, value.type, value.dims, value.data.size()); !claim)
    return claim;
  if (value.type == dtype::string)
    return check_strings(checked, static_cast<std::uint64_t>(element_count(value.dims)));
  if (value.type == dtype::boolean) {
    unsigned all = 0;
    for (const auto byte : value.data.view)
      all |= std::to_integer<unsigned>(byte);
    if (all > 1)
      return fail(errc::invalid_argument, "tensor \"{}\": a BOOL is neither 0 nor 1", checked.name);
  }
  return {};
}

result<void> apply_parameters(inference_request& request, time_point now) {
  const auto whole = [&](std::string_view key, std::int64_t most) -> result<std::int64_t> {
    const auto entry = request.parameters.find(key);
    if (entry == request.parameters.end())
      return 0;
    const auto* value = std::get_if<std::int64_t>(&entry->second);
    if (!value || *value < 0 || *value > most)
      return fail(errc::invalid_argument, "parameter \"{}\" must be an integer from 0 to {}", key,
                  most);
    return *value;
  };
  const auto priority = whole("priority", std::numeric_limits<std::uint32_t>::max());
  if (!priority)
    return propagate(priority);
  // A year is as good as none, and cannot overflow the clock.
  const auto timeout = whole("timeout", std::int64_t{366} * 24 * 3600 * 1'000'000);
  if (!timeout)
    return propagate(timeout);
  if (*priority > 0)
    request.priority = static_cast<std::uint32_t>(*priority);
  if (*timeout > 0)
    request.deadline = now + std::chrono::microseconds{*timeout};
  return {};
}

} // namespace troupe::protocol
