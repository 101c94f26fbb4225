#pragma once

#include <array>

namespace troupe::ocr {

/// In pixels, x to the right, y downwards; the centre of the first pixel is 0, 0.
struct point {
  float x = 0;
  float y = 0;

  friend bool operator==(const point&, const point&) = default;
};

/// Corners of a text box: top left, top right, bottom right, bottom left, as the image lies.
using quad = std::array<point, 4>;

} // namespace troupe::ocr
