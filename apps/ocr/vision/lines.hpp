#pragma once

#include "apps/ocr/vision/geometry.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace troupe::ocr {

/// Which boxes of a page lie on one line: lines from the top, within a line from the left, as
/// indices into `boxes`. The page may lie askew: boxes share a line if, along the boxes' own median
/// direction, their middles differ by less than half the smaller one's height. `upside_down` pages
/// are read as if turned.
[[nodiscard]] std::vector<std::vector<std::size_t>> lines_of(std::span<const quad> boxes,
                                                             bool upside_down = false);

/// Joins neighbours on a line that the detector parted only because the type is widely spaced: of
/// like height, level with each other and less than their height apart. A joined box is the
/// smallest rectangle around its parts. What is far apart, such as the cells of a table, stays
/// apart.
[[nodiscard]] std::vector<quad> join_neighbours(std::span<const quad> boxes);

} // namespace troupe::ocr
