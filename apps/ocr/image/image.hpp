#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe::ocr {

/// Pixels of 8 bits per channel, blue, green, red, rows packed from the top. An empty image has no
/// pixels and both sizes 0.
struct image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;

  image() = default;
  /// Black. Throws std::bad_alloc.
  image(int columns, int rows)
      : width(columns), height(rows),
        pixels(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows) * 3) {}

  [[nodiscard]] bool empty() const noexcept { return pixels.empty(); }
  [[nodiscard]] std::uint8_t* row(int y) noexcept {
    return pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width) * 3;
  }
  [[nodiscard]] const std::uint8_t* row(int y) const noexcept {
    return pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width) * 3;
  }
};

} // namespace troupe::ocr
