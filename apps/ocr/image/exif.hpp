#pragma once

#include "apps/ocr/image/image.hpp"

#include <cstddef>
#include <span>

namespace troupe::ocr {

/// The orientation (1 to 8, EXIF 2.3 section 4.6.4 A, tag 0x0112) that a JPEG's APP1 segment
/// states; `segment` begins with "Exif\0\0". 1, which is upright, for anything that cannot be read.
[[nodiscard]] int exif_orientation(std::span<const std::byte> segment) noexcept;

/// Turns and mirrors an image stored under an orientation so that it stands upright. Throws
/// std::bad_alloc.
[[nodiscard]] image upright(image stored, int orientation);

} // namespace troupe::ocr
