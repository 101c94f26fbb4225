#pragma once

// Image files for tests, made by the libraries that the decoder reads them with.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe::ocr::test {

using file = std::vector<std::byte>;

/// A PNG of rows of `channels` samples per pixel (1 gray, 2 gray and alpha, 3 RGB, 4 RGB and
/// alpha), 8 or, in linear light, 16 bits each. `Sample` is std::uint8_t or std::uint16_t.
template <class Sample>
[[nodiscard]] file png(int width, int height, int channels, const std::vector<Sample>& samples);

/// A PNG with a palette of RGB entries.
[[nodiscard]] file palette_png(int width, int height, const std::vector<std::uint8_t>& palette,
                               const std::vector<std::uint8_t>& indices);

struct jpeg_options {
  int channels = 3; ///< 1 gray, 3 RGB, 4 inks (stored inverted, as Adobe's writers do)
  bool progressive = false;
  std::string exif; ///< content of an APP1 segment
};

[[nodiscard]] file jpeg(int width, int height, const std::vector<std::uint8_t>& samples,
                        const jpeg_options& options = {});

/// An EXIF segment whose only entry is the orientation.
[[nodiscard]] std::string exif_with_orientation(int orientation, bool little_endian = true);

} // namespace troupe::ocr::test
