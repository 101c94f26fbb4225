#pragma once

// From the detector's probability map to boxes, by the rule of "Real-time Scene Text Detection with
// Differentiable Binarization" (Liao et al., 2020): the network learns shrunken text regions, which
// are cut at a threshold, wrapped into rectangles and grown back.

#include "apps/ocr/vision/geometry.hpp"

#include <span>
#include <vector>

namespace troupe::ocr {

struct box_options {
  float threshold = 0.3f;    ///< a pixel above it is text
  float min_score = 0.5f;    ///< least mean probability inside a box
  float unclip_ratio = 1.6f; ///< growth: this times area over perimeter
  int max_candidates = 1000; ///< contours looked at
};

/// A row-major map of `height` rows of `width` probabilities.
struct probability_map {
  std::span<const float> values;
  int width = 0;
  int height = 0;
};

/// Rectangles of any angle around text, in the pixels of a page of `page_width` x `page_height`
/// that the map covers, clipped to it, corners rounded to whole pixels. Boxes with a side of 3
/// pixels or less are left out. In no particular order.
[[nodiscard]] std::vector<quad> find_text_boxes(const probability_map& map, int page_width,
                                                int page_height, const box_options& options = {});

} // namespace troupe::ocr
