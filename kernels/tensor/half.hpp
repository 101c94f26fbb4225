#pragma once

#include <bit>
#include <cstdint>

namespace troupe {

/// IEEE 754 binary16 as stored; converts to and from float, rounding to nearest even.
struct half {
  std::uint16_t bits = 0;

  half() = default;
  explicit half(float value) noexcept;
  explicit operator float() const noexcept;
};

/// The upper half of a binary32, rounded to nearest even; NaN stays NaN.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  explicit bfloat16(float value) noexcept {
    auto raw = std::bit_cast<std::uint32_t>(value);
    if ((raw & 0x7fffffffu) > 0x7f800000u)
      bits = static_cast<std::uint16_t>((raw >> 16) | 0x40u);
    else
      bits = static_cast<std::uint16_t>((raw + 0x7fffu + ((raw >> 16) & 1u)) >> 16);
  }
  explicit operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

} // namespace troupe
