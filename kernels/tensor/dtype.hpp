#pragma once

#include "kernels/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe {

/// Element types a tensor may have. A `string` element in memory is a `std::string`; on the wires
/// it is KServe's BYTES (4-byte little-endian length, then the bytes).
enum class dtype : std::uint8_t {
  boolean,
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  string,
};

/// Bytes of one element in memory (`sizeof(std::string)` for `string`).
[[nodiscard]] std::size_t size_of(dtype type) noexcept;

/// KServe's datatype name: "BOOL", "UINT8", …, "FP16", "BF16", "FP32", "FP64", "BYTES".
[[nodiscard]] std::string_view to_string(dtype type) noexcept;

/// The inverse of `to_string`; invalid_argument lists the known names.
[[nodiscard]] result<dtype> parse_dtype(std::string_view name);

[[nodiscard]] constexpr bool is_floating(dtype type) noexcept {
  return type >= dtype::float16 && type <= dtype::float64;
}

} // namespace troupe
