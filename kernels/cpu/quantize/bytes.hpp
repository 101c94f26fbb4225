#pragma once

#include "kernels/op/byte_bounds.hpp"

#include <cstddef>
#include <cstdint>

namespace troupe::cpu::bytes {

// Vector code between real numbers and INT8 or UINT8 with one scale for all of them.

/// What the bytes of a tensor mean: (byte - zero_point) * scale.
struct meaning {
  bool is_signed = false;
  float scale = 1.0F;
  std::int32_t zero_point = 0;
};

/// y = the integers nearest to x / scale, ties to even, plus the zero point, within the bounds; the
/// lowest for NaN.
void quantize(const float* x, std::int64_t count, const meaning& of, const byte_bounds& within,
              std::byte* y);

/// y = (x - zero_point) * scale.
void dequantize(const std::byte* x, std::int64_t count, const meaning& of, float* y);

/// y = a + b, added as real numbers. y may lie where a or b does.
void add(const std::byte* a, const meaning& of_a, const std::byte* b, const meaning& of_b,
         std::int64_t count, const meaning& of_y, const byte_bounds& within, std::byte* y);

} // namespace troupe::cpu::bytes
