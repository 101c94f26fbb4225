#pragma once

#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace troupe::cpu {

/// The integer nearest to `x`, ties to even, within the integers `low` and `high`; `low` for NaN.
/// Bounds up to 2^22 in size. Adding and taking away 1.5 * 2^23 rounds as the processor adds, which
/// compilers turn into vector code for every instruction set.
[[nodiscard]] inline float rounded_between(float x, float low, float high) {
  constexpr float whole = 12582912.0F;
  x = x > low ? x : low;
  x = x < high ? x : high;
  return (x + whole) - whole;
}

/// saturate(round(x) + zero_point) for 8-bit and 16-bit integers.
template <class T>
[[nodiscard]] inline T quantized(float x, float zero_point) {
  constexpr auto low = static_cast<float>(std::numeric_limits<T>::min());
  constexpr auto high = static_cast<float>(std::numeric_limits<T>::max());
  return static_cast<T>(static_cast<std::int32_t>(
      rounded_between(x, low - zero_point, high - zero_point) + zero_point));
}

/// Calls `use(type_tag<T>{})` for the types of real numbers that have scales; false for others.
template <class Use>
bool visit_real(dtype type, const Use& use) {
  switch (type) {
    case dtype::float32: use(type_tag<float>{}); return true;
    case dtype::float16: use(type_tag<half>{}); return true;
    case dtype::bfloat16: use(type_tag<bfloat16>{}); return true;
    default: return false;
  }
}

/// The same for INT8 and UINT8.
template <class Use>
bool visit_byte(dtype type, const Use& use) {
  switch (type) {
    case dtype::int8: use(type_tag<std::int8_t>{}); return true;
    case dtype::uint8: use(type_tag<std::uint8_t>{}); return true;
    default: return false;
  }
}

/// The same for these and INT16 and UINT16.
template <class Use>
bool visit_quantized(dtype type, const Use& use) {
  switch (type) {
    case dtype::int16: use(type_tag<std::int16_t>{}); return true;
    case dtype::uint16: use(type_tag<std::uint16_t>{}); return true;
    default: return visit_byte(type, use);
  }
}

/// Element `index` of a tensor of FP32, FP16 or BF16; 0 for other types.
[[nodiscard]] inline float real_at(const tensor_view& of, std::int64_t index) {
  float found = 0;
  visit_real(of.desc.type, [&](auto tag) {
    found = static_cast<float>(of.as<const typename decltype(tag)::type>()[index]);
  });
  return found;
}

/// Element `index` of a tensor of INT8, UINT8, INT16, UINT16 or INT32; 0 for other types, and where
/// the tensor is left out.
[[nodiscard]] inline std::int32_t integer_at(const tensor_view& of, std::int64_t index) {
  if (of.data == nullptr)
    return 0;
  if (of.desc.type == dtype::int32)
    return of.as<const std::int32_t>()[index];
  std::int32_t found = 0;
  visit_quantized(of.desc.type,
                  [&](auto tag) { found = of.as<const typename decltype(tag)::type>()[index]; });
  return found;
}

/// Which element of a scale belongs to an element of the tensor [outer, size, inner] it scales: the
/// only one, one for each index of the axis, or one for each block of it.
struct scale_places {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
  std::int64_t block = 1;        ///< indices of the axis that share a scale
  std::int64_t outer_stride = 0; ///< in the scale, between outer indices
  std::int64_t block_stride = 0; ///< between blocks
  std::int64_t inner_stride = 0; ///< between inner indices

  [[nodiscard]] std::int64_t rows() const noexcept { return outer * size; }
  /// The place of element 0 of row `row` (of [outer * size, inner]); the others follow in steps of
  /// `inner_stride`.
  [[nodiscard]] std::int64_t of_row(std::int64_t row) const noexcept {
    return row / size * outer_stride + row % size / block * block_stride;
  }
};

/// For the attributes `axis` and `block_size` of QuantizeLinear and DequantizeLinear (operator sets
/// 10 to 28); the reason when the scale's dims fit none of the granularities.
[[nodiscard]] tl::expected<scale_places, std::string>
scale_places_of(const attribute_map& attributes, const shape& data, const shape& scale);

} // namespace troupe::cpu
