#pragma once

#include "apps/ocr/vision/geometry.hpp"

#include <span>

namespace troupe::ocr {

struct rectangle {
  quad corners;
  float short_side = 0;
};

/// The rectangle of least area, at any angle, around at least one point.
[[nodiscard]] rectangle smallest_rectangle(std::span<const point> around);

/// Four corners from the top left clockwise: the two leftmost are told apart by height, and so are
/// the others.
[[nodiscard]] quad in_order(quad corners) noexcept;

} // namespace troupe::ocr
