#include "kernels/tensor/half.hpp"

namespace troupe {

half::half(float value) noexcept {
  const auto raw = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (raw >> 16) & 0x8000u;
  const std::uint32_t magnitude = raw & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { // NaN
    bits = static_cast<std::uint16_t>(sign | 0x7e00u);
  } else if (magnitude >= 0x477ff000u) { // rounds to infinity
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);
  } else if (magnitude >= 0x38800000u) { // normal
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    bits = static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  } else if (magnitude >= 0x33000000u) { // subnormal
    const std::uint32_t exponent = magnitude >> 23;
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t shift = 126u - exponent;
    const std::uint32_t kept = mantissa >> shift;
    const std::uint32_t rest = mantissa & ((1u << shift) - 1u);
    const std::uint32_t middle = 1u << (shift - 1u);
    const bool up = rest > middle || (rest == middle && (kept & 1u));
    bits = static_cast<std::uint16_t>(sign | (kept + (up ? 1u : 0u)));
  } else {
    bits = static_cast<std::uint16_t>(sign);
  }
}

half::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  const float tiny = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(tiny));
}

} // namespace troupe
