#pragma once

#include <cstdint>

namespace troupe::cpu {

/// Turns the first 2 * `half` numbers of a vector by the angles of a position (RoFormer, 2021):
/// pairs are neighbours when `interleaved`, else one from each half. `to` may be `from`.
inline void rotate(const float* from, float* to, const float* cosine, const float* sine,
                   std::int64_t half, std::int64_t size, bool interleaved) {
  for (std::int64_t i = 0; i < half; ++i) {
    const auto first = interleaved ? 2 * i : i;
    const auto second = interleaved ? first + 1 : i + half;
    const float x = from[first];
    const float y = from[second];
    to[first] = x * cosine[i] - y * sine[i];
    to[second] = x * sine[i] + y * cosine[i];
  }
  for (auto i = 2 * half; i < size; ++i)
    to[i] = from[i];
}

} // namespace troupe::cpu
