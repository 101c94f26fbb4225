#pragma once

#include "kernels/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace troupe::cpu {

/// invalid_argument unless all `count` indices are in [-size, size). Kernels ask once and then move
/// data without a check for each element.
template <class Index>
[[nodiscard]] result<void> check_indices(const Index* indices, std::int64_t count,
                                         std::int64_t size, std::string_view op_type) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::int64_t>(indices[i]);
    if (index < -size || index >= size)
      return fail(errc::invalid_argument, "{}: an index in [{}, {}) expected, {} found", op_type,
                  -size, size, index);
  }
  return {};
}

/// A checked index counted from the front.
template <class Index>
[[nodiscard]] constexpr std::int64_t from_front(Index index, std::int64_t size) noexcept {
  const auto wide = static_cast<std::int64_t>(index);
  return wide < 0 ? wide + size : wide;
}

} // namespace troupe::cpu
