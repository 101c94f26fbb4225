#include "kernels/tensor/dtype.hpp"

#include <array>
#include <string>

namespace troupe {

namespace {

struct entry {
  dtype type;
  std::string_view name;
  std::size_t bytes;
};

// In the order of the enumeration: an element's index is its value.
constexpr std::array<entry, 14> table{{
    {dtype::boolean, "BOOL", 1},
    {dtype::uint8, "UINT8", 1},
    {dtype::uint16, "UINT16", 2},
    {dtype::uint32, "UINT32", 4},
    {dtype::uint64, "UINT64", 8},
    {dtype::int8, "INT8", 1},
    {dtype::int16, "INT16", 2},
    {dtype::int32, "INT32", 4},
    {dtype::int64, "INT64", 8},
    {dtype::float16, "FP16", 2},
    {dtype::bfloat16, "BF16", 2},
    {dtype::float32, "FP32", 4},
    {dtype::float64, "FP64", 8},
    {dtype::string, "BYTES", sizeof(std::string)},
}};

} // namespace

std::size_t size_of(dtype type) noexcept {
  return table[static_cast<std::size_t>(type)].bytes;
}

std::string_view to_string(dtype type) noexcept {
  return table[static_cast<std::size_t>(type)].name;
}

result<dtype> parse_dtype(std::string_view name) {
  for (const auto& known : table)
    if (known.name == name)
      return known.type;
  std::string names;
  for (const auto& known : table)
    names += (names.empty() ? "" : ", ") + std::string{known.name};
  return fail(errc::invalid_argument, "unknown datatype '{}': expected one of {}", name, names);
}

} // namespace troupe
