#include "tests/conformance/compare.hpp"

#include "kernels/tensor/byte_strings.hpp"
#include "kernels/tensor/half.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace troupe::conformance {
namespace {

constexpr double absolute = 1e-7;
constexpr double relative = 1e-3;

bool close(double found, double expected) {
  if (std::isnan(expected) || std::isinf(expected))
    return std::isnan(expected) ? std::isnan(found) : found == expected;
  return std::abs(found - expected) <= absolute + relative * std::abs(expected);
}

template <class T>
std::string compare_numbers(const tensor& found, const tensor& expected) {
  const auto ours = elements_of<T>(found.data);
  const auto theirs = elements_of<T>(expected.data);
  for (std::size_t index = 0; index < theirs.size(); ++index) {
    // Half types widen to float first; int64 beyond 2^53 would lose digits as double.
    if constexpr (std::is_integral_v<T>) {
      if (ours[index] == theirs[index])
        continue;
    }
    const auto wide = [](T number) {
      if constexpr (std::is_arithmetic_v<T>)
        return static_cast<double>(number);
      else
        return double{static_cast<float>(number)};
    };
    if (!close(wide(ours[index]), wide(theirs[index])))
      return fmt::format("element {}: {} expected, {} found", index, wide(theirs[index]),
                         wide(ours[index]));
  }
  return {};
}

std::string compare_strings(const tensor& found, const tensor& expected) {
  const auto ours = unpack_strings(found);
  const auto theirs = unpack_strings(expected);
  if (!ours || !theirs)
    return ours ? theirs.error().text : ours.error().text;
  for (std::size_t index = 0; index < theirs->size(); ++index)
    if ((*ours)[index] != (*theirs)[index])
      return fmt::format("element {}: '{}' expected, '{}' found", index, (*theirs)[index],
                         (*ours)[index]);
  return {};
}

} // namespace

std::string compare(const tensor& found, const tensor& expected) {
  if (found.type != expected.type || found.dims != expected.dims)
    return fmt::format("{} {} expected, {} {} found", to_string(expected.type),
                       to_string(expected.dims), to_string(found.type), to_string(found.dims));
  switch (expected.type) {
    case dtype::float64: return compare_numbers<double>(found, expected);
    case dtype::float32: return compare_numbers<float>(found, expected);
    case dtype::float16: return compare_numbers<half>(found, expected);
    case dtype::bfloat16: return compare_numbers<bfloat16>(found, expected);
    case dtype::uint64: return compare_numbers<std::uint64_t>(found, expected);
    case dtype::int64: return compare_numbers<std::int64_t>(found, expected);
    case dtype::uint32: return compare_numbers<std::uint32_t>(found, expected);
    case dtype::int32: return compare_numbers<std::int32_t>(found, expected);
    case dtype::uint16: return compare_numbers<std::uint16_t>(found, expected);
    case dtype::int16: return compare_numbers<std::int16_t>(found, expected);
    case dtype::uint8:
    case dtype::boolean: return compare_numbers<std::uint8_t>(found, expected);
    case dtype::int8: return compare_numbers<std::int8_t>(found, expected);
    case dtype::string: return compare_strings(found, expected);
  }
  return "its type is unknown";
}

} // namespace troupe::conformance
