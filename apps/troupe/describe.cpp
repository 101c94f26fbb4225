#include "apps/troupe/describe.hpp"

#include "kernels/tensor/byte_strings.hpp"
#include "kernels/tensor/half.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace troupe::cli {
namespace {

constexpr std::size_t longest_string = 60;

std::string quoted(std::string_view text) {
  std::size_t end = std::min(text.size(), longest_string);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u)
    --end; // not inside a character
  std::string shown = "\"";
  for (const char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      shown += fmt::format("\\x{:02x}", byte);
    else
      shown += c;
  }
  shown += '"';
  return end < text.size() ? fmt::format("{}… ({} bytes)", shown, text.size()) : shown;
}

template <class T, class As = T>
std::vector<std::string> numbers(const tensor& from, std::size_t most) {
  std::vector<std::string> texts;
  for (const T value :
       elements_of<T>(from.data).first(std::min(most, from.data.size() / sizeof(T))))
    texts.push_back(fmt::format("{}", static_cast<As>(value)));
  return texts;
}

std::vector<std::string> strings(const tensor& from, std::size_t most) {
  std::vector<std::string> texts;
  if (const auto all = unpack_strings(from))
    for (const auto each : std::span{*all}.first(std::min(most, all->size())))
      texts.push_back(quoted(each));
  return texts;
}

std::vector<std::string> first_elements(const tensor& from, std::size_t most) {
  switch (from.type) {
    case dtype::boolean: return numbers<bool>(from, most);
    case dtype::uint8: return numbers<std::uint8_t, unsigned>(from, most);
    case dtype::int8: return numbers<std::int8_t, int>(from, most);
    case dtype::uint16: return numbers<std::uint16_t>(from, most);
    case dtype::int16: return numbers<std::int16_t>(from, most);
    case dtype::uint32: return numbers<std::uint32_t>(from, most);
    case dtype::int32: return numbers<std::int32_t>(from, most);
    case dtype::uint64: return numbers<std::uint64_t>(from, most);
    case dtype::int64: return numbers<std::int64_t>(from, most);
    case dtype::float16: return numbers<half, float>(from, most);
    case dtype::bfloat16: return numbers<bfloat16, float>(from, most);
    case dtype::float32: return numbers<float>(from, most);
    case dtype::float64: return numbers<double>(from, most);
    case dtype::string: return strings(from, most);
  }
  return {};
}

} // namespace

std::string describe(const tensor& shown, std::size_t most_elements) {
  const auto count = static_cast<std::size_t>(element_count(shown.dims));
  return fmt::format("{} {} {}{}", to_string(shown.type), to_string(shown.dims),
                     fmt::join(first_elements(shown, most_elements), ", "),
                     count > most_elements ? ", …" : "");
}

} // namespace troupe::cli
