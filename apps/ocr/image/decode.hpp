#pragma once

#include "apps/ocr/image/image.hpp"
#include "kernels/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::ocr {

/// What a file may ask for. Checked against its header, before any pixel is allocated.
struct decode_limits {
  int max_side = 16'384;
  std::int64_t max_pixels = 40'000'000; ///< width times height
};

/// Decodes a PNG or a JPEG file, told apart by their first bytes. Gray, palettes and 16 bits per
/// channel become 8-bit colour; a transparent image is laid on white, or on black if what shows of
/// it is bright; a JPEG's EXIF orientation is applied. The file is untrusted: anything malformed,
/// cut short, too large or of another format is invalid_argument. Any thread. Throws
/// std::bad_alloc.
[[nodiscard]] result<image> decode_image(std::span<const std::byte> file,
                                         const decode_limits& limits = {});

/// The same for one format; the caller has looked at the first bytes.
[[nodiscard]] result<image> decode_png(std::span<const std::byte> file,
                                       const decode_limits& limits);
[[nodiscard]] result<image> decode_jpeg(std::span<const std::byte> file,
                                        const decode_limits& limits);

/// invalid_argument if an image of these sizes is empty or beyond the limits.
[[nodiscard]] result<void> check_size(std::int64_t width, std::int64_t height,
                                      const decode_limits& limits);

} // namespace troupe::ocr
