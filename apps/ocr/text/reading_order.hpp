#pragma once

#include "apps/ocr/vision/geometry.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace troupe::ocr {

/// The order in which a reader takes the boxes of a page: lines from the top, within a line from the
/// left. The page may lie askew: boxes share a line if, along the boxes' own median direction, their
/// middles differ by less than half the smaller one's height. `upside_down` pages are read as if
/// turned. Returns indices into `boxes`.
[[nodiscard]] std::vector<std::size_t> reading_order(std::span<const quad> boxes,
                                                     bool upside_down = false);

} // namespace troupe::ocr
