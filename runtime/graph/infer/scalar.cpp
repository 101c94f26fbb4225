#include "runtime/graph/infer/scalar.hpp"

#include "kernels/tensor/half.hpp"

namespace troupe::graph {

namespace {

template <class T>
double first_of(const tensor& scalar) {
  return static_cast<double>(elements_of<T>(scalar.data).front());
}

template <class T>
double first_half_of(const tensor& scalar) {
  return static_cast<double>(static_cast<float>(elements_of<T>(scalar.data).front()));
}

} // namespace

std::optional<double> scalar_in(const inference& at, std::size_t input) {
  if (!at.has(input) || !at.input(input).constant)
    return std::nullopt;
  const auto& content = *at.input(input).constant;
  if (element_count(content.dims) != 1)
    return std::nullopt;
  switch (content.type) {
    case dtype::uint8:
    case dtype::boolean: return first_of<std::uint8_t>(content);
    case dtype::uint16: return first_of<std::uint16_t>(content);
    case dtype::uint32: return first_of<std::uint32_t>(content);
    case dtype::uint64: return first_of<std::uint64_t>(content);
    case dtype::int8: return first_of<std::int8_t>(content);
    case dtype::int16: return first_of<std::int16_t>(content);
    case dtype::int32: return first_of<std::int32_t>(content);
    case dtype::int64: return first_of<std::int64_t>(content);
    case dtype::float16: return first_half_of<half>(content);
    case dtype::bfloat16: return first_half_of<bfloat16>(content);
    case dtype::float32: return first_of<float>(content);
    case dtype::float64: return first_of<double>(content);
    case dtype::string: break;
  }
  return std::nullopt;
}

} // namespace troupe::graph
