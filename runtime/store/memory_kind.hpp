#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace troupe::store {

/// Memories that books are kept of.
enum class memory_kind : std::uint8_t {
  device, ///< what kernels work on
  host,   ///< what a device whose memory the host cannot see copies from and to; page-locked
};

/// In the order in which whoever needs both takes them, so that nobody waits in a circle.
inline constexpr std::array memory_kinds{memory_kind::device, memory_kind::host};

/// A value of each.
template <class T>
class per_memory {
public:
  [[nodiscard]] T& operator[](memory_kind of) noexcept { return of_[static_cast<int>(of)]; }
  [[nodiscard]] const T& operator[](memory_kind of) const noexcept {
    return of_[static_cast<int>(of)];
  }

private:
  T of_[memory_kinds.size()]{};
};

[[nodiscard]] constexpr std::string_view to_string(memory_kind of) noexcept {
  return of == memory_kind::device ? "device memory" : "pinned host memory";
}

} // namespace troupe::store
