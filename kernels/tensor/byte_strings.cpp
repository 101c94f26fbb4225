#include "kernels/tensor/byte_strings.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

namespace troupe {
namespace {

constexpr std::size_t prefix_bytes = 4;

std::size_t read_length(const std::byte* from) noexcept {
  std::size_t length = 0;
  for (std::size_t i = 0; i < prefix_bytes; ++i)
    length |= std::to_integer<std::size_t>(from[i]) << (8 * i);
  return length;
}

void write_length(std::byte* to, std::size_t length) noexcept {
  for (std::size_t i = 0; i < prefix_bytes; ++i)
    to[i] = static_cast<std::byte>(length >> (8 * i));
}

} // namespace

result<tensor> pack_strings(std::span<const std::string> elements) {
  std::size_t total = 0;
  for (const auto& element : elements) {
    if (element.size() > std::numeric_limits<std::uint32_t>::max())
      return fail(errc::invalid_argument, "a BYTES element has {} bytes, more than 32 bits can say",
                  element.size());
    total += prefix_bytes + element.size();
  }
  auto block = allocate_aligned(total);
  auto* at = block.get();
  for (const auto& element : elements) {
    write_length(at, element.size());
    if (!element.empty())
      std::memcpy(at + prefix_bytes, element.data(), element.size());
    at += prefix_bytes + element.size();
  }
  tensor packed;
  packed.type = dtype::string;
  packed.dims = {static_cast<std::int64_t>(elements.size())};
  packed.data.view = {block.get(), total};
  packed.data.owner = std::move(block);
  return packed;
}

result<std::vector<std::string_view>> unpack_strings(const tensor& packed) {
  if (packed.type != dtype::string)
    return fail(errc::invalid_argument, "expected a tensor of BYTES, got {}",
                to_string(packed.type));
  auto expected = element_count(packed.dims);
  auto miscounted = [&](auto found) {
    return fail(errc::invalid_argument, "a BYTES tensor of shape {} has {} elements, its data {}",
                to_string(packed.dims), expected, found);
  };
  std::vector<std::string_view> elements;
  auto rest = packed.data.view;
  while (!rest.empty()) {
    if (static_cast<std::int64_t>(elements.size()) == expected)
      return miscounted("more");
    if (rest.size() < prefix_bytes)
      return fail(errc::invalid_argument, "BYTES element {}: {} bytes left, its length takes 4",
                  elements.size(), rest.size());
    auto length = read_length(rest.data());
    rest = rest.subspan(prefix_bytes);
    if (length > rest.size())
      return fail(errc::invalid_argument, "BYTES element {} claims {} bytes, {} are left",
                  elements.size(), length, rest.size());
    elements.emplace_back(reinterpret_cast<const char*>(rest.data()), length);
    rest = rest.subspan(length);
  }
  if (static_cast<std::int64_t>(elements.size()) != expected)
    return miscounted(elements.size());
  return elements;
}

} // namespace troupe
