#pragma once

#include "apps/ocr/image/image.hpp"
#include "apps/ocr/vision/geometry.hpp"

namespace troupe::ocr {

/// Cuts a box out and straightens it (perspective, bicubic; beyond the border the border's pixels
/// are repeated). A box at least 1.5 times as tall as wide holds a vertical line and is turned by
/// 90 degrees counterclockwise. The box has sides of at least one pixel and lies on the image.
[[nodiscard]] image crop(const image& from, const quad& box);

/// The same image upside down.
[[nodiscard]] image rotated_180(const image& of);

} // namespace troupe::ocr
