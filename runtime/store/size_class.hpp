#pragma once

#include <bit>
#include <cstddef>

namespace troupe::store {

/// The sizes blocks come in: quarters of powers of two from 4 KiB on, so that a block serves again
/// for a slightly different plan and at most a fifth of it lies idle.
[[nodiscard]] constexpr std::size_t size_class(std::size_t bytes) noexcept {
  constexpr std::size_t smallest = 4096;
  if (bytes <= smallest)
    return smallest;
  const std::size_t quarter = std::bit_floor(bytes - 1) / 4;
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a quarter is at least 1024
  return (bytes + quarter - 1) / quarter * quarter;
}

} // namespace troupe::store
