// ONNX: Cast-9 to -25 to and from strings, CastLike alike. Numbers are written with as many digits
// as it takes to read them again; NaN, INF and -INF are read in any case.

#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace troupe::cpu {

namespace {

template <class T>
std::string written(T number) {
  std::array<char, 64> room{};
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(number))
      return "NaN";
    if (std::isinf(number))
      return number < 0 ? "-INF" : "INF";
  }
  const auto end = std::to_chars(room.data(), room.data() + room.size(), number).ptr;
  std::string text{room.data(), end};
  if (std::is_floating_point_v<T> && text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

template <class T>
std::vector<std::string> written_all(const tensor& from) {
  std::vector<std::string> made;
  for (auto element : elements_of<T>(from.data))
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
      made.push_back(written(static_cast<float>(element)));
    else
      made.push_back(written(element));
  return made;
}

result<std::vector<datum>> to_strings(const tensor& from) {
  std::vector<std::string> made;
  if (from.type == dtype::boolean)
    for (auto element : elements_of<std::uint8_t>(from.data))
      made.emplace_back(element != 0 ? "True" : "False");
  else if (from.type == dtype::float16)
    made = written_all<half>(from);
  else if (from.type == dtype::bfloat16)
    made = written_all<bfloat16>(from);
  else if (!visit_numeric(from.type, [&](auto tag) {
             made = written_all<typename decltype(tag)::type>(from);
           }))
    return fail(errc::unimplemented, "datatype {} is not supported", to_string(from.type));
  auto packed = pack_strings(made);
  if (!packed)
    return propagate(packed);
  packed->dims = from.dims;
  return std::vector<datum>{*std::move(packed)};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\n\r";
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(blank) + 1, text.size()));
  if (text.size() > 1 && text.front() == '+' && text[1] != '-')
    text.remove_prefix(1);
  return text;
}

template <class T>
result<T> read_number(std::string_view text) {
  const auto digits = trimmed(text);
  T number{};
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = end == digits.data() + digits.size() && !digits.empty();
  if constexpr (std::is_floating_point_v<T>)
    if (whole && failure == std::errc::result_out_of_range) // too large, or too small to matter
      return static_cast<T>(std::strtod(std::string{digits}.c_str(), nullptr));
  if (!whole || failure != std::errc{})
    return fail(errc::invalid_argument, "a number expected, '{}' found", text.substr(0, 64));
  return number;
}

template <class Stored, class Read>
result<tensor> read_all(dtype type, const tensor& from, std::span<const std::string_view> texts) {
  std::vector<Stored> numbers;
  for (auto text : texts) {
    auto number = read_number<Read>(text);
    if (!number)
      return propagate(number);
    numbers.push_back(static_cast<Stored>(*number));
  }
  return make_tensor<Stored>(type, from.dims, numbers);
}

result<tensor> from_strings(const tensor& from, dtype to) {
  auto texts = unpack_strings(from);
  if (!texts)
    return propagate(texts);
  if (to == dtype::float16)
    return read_all<half, float>(to, from, *texts);
  if (to == dtype::bfloat16)
    return read_all<bfloat16, float>(to, from, *texts);
  result<tensor> made = fail(errc::unimplemented, "BYTES to {} is not supported", to_string(to));
  visit_numeric(to, [&](auto tag) {
    using type = typename decltype(tag)::type;
    made = read_all<type, type>(to, from, *texts);
  });
  return made;
}

} // namespace

result<std::vector<datum>> run_string_cast(const value_call& of) {
  auto from = tensor_in(of, 0);
  if (!from)
    return propagate(from);
  if (of.output_types.empty() || !of.output_types[0])
    return fail(errc::invalid_argument, "a type to cast to expected, none found");
  const auto to = *of.output_types[0];
  if (to == dtype::string)
    return (*from)->type == dtype::string ? std::vector<datum>{**from} : to_strings(**from);
  auto made = from_strings(**from, to);
  if (!made)
    return propagate(made);
  return std::vector<datum>{*std::move(made)};
}

} // namespace troupe::cpu
