#pragma once

#include "apps/ocr/image/image.hpp"

namespace troupe::ocr {

/// Bilinear, pixel centres aligned as OpenCV's INTER_LINEAR has them. Both sizes are positive.
[[nodiscard]] image resize(const image& source, int width, int height);

/// Writes the image as float planes blue, green, red into `planes`, each value 2 x / 255 - 1. A
/// plane has `plane_height` rows of `plane_width` values; the image fills its top left corner and
/// the rest is left as it is.
void write_planes(const image& source, float* planes, int plane_width, int plane_height);

} // namespace troupe::ocr
