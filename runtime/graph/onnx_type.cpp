#include "runtime/graph/onnx_type.hpp"

#include <array>
#include <string_view>

namespace troupe::graph {

namespace {

struct entry {
  std::int64_t number;
  dtype type;
};

constexpr std::array<entry, 14> table{{
    {1, dtype::float32},
    {2, dtype::uint8},
    {3, dtype::int8},
    {4, dtype::uint16},
    {5, dtype::int16},
    {6, dtype::int32},
    {7, dtype::int64},
    {8, dtype::string},
    {9, dtype::boolean},
    {10, dtype::float16},
    {11, dtype::float64},
    {12, dtype::uint32},
    {13, dtype::uint64},
    {16, dtype::bfloat16},
}};

struct unsupported_type {
  std::int64_t number;
  std::string_view name;
};

constexpr std::array<unsupported_type, 12> unsupported{{
    {14, "COMPLEX64"},
    {15, "COMPLEX128"},
    {17, "FLOAT8E4M3FN"},
    {18, "FLOAT8E4M3FNUZ"},
    {19, "FLOAT8E5M2"},
    {20, "FLOAT8E5M2FNUZ"},
    {21, "UINT4"},
    {22, "INT4"},
    {23, "FLOAT4E2M1"},
    {24, "FLOAT8E8M0"},
    {25, "UINT2"},
    {26, "INT2"},
}};

} // namespace

result<dtype> dtype_of_onnx(std::int64_t number) {
  for (const auto& known : table)
    if (known.number == number)
      return known.type;
  if (number == 0)
    return fail(errc::invalid_argument, "the data type is not set");
  for (const auto& known : unsupported)
    if (known.number == number)
      return fail(errc::unimplemented, "ONNX data type {} is not supported", known.name);
  return fail(errc::unimplemented, "ONNX data type {} is not supported", number);
}

std::int64_t onnx_number(dtype type) noexcept {
  for (const auto& known : table)
    if (known.type == type)
      return known.number;
  return 0;
}

} // namespace troupe::graph
