#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace troupe {

/// Alignment of every tensor payload that Troupe allocates, in bytes.
inline constexpr std::size_t tensor_alignment = 64;

/// Read-only bytes together with whatever keeps them alive (a receive buffer, a file's content, a
/// vector of the caller's). Copies share; nothing is copied but the reference.
struct shared_bytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> view;

  [[nodiscard]] const std::byte* data() const noexcept { return view.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return view.size(); }
};

/// A fresh block aligned to `tensor_alignment`, not initialised. Throws std::bad_alloc.
[[nodiscard]] std::shared_ptr<std::byte[]> allocate_aligned(std::size_t bytes);

/// Copies `source` into a block of its own.
[[nodiscard]] shared_bytes copy_of(std::span<const std::byte> source);

/// Reads `count` elements of T; the caller has checked size and alignment.
template <class T>
[[nodiscard]] std::span<const T> elements_of(const shared_bytes& bytes) noexcept {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

} // namespace troupe
