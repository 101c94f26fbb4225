#pragma once

// An image as detection and cropping work on it: of a bounded size, and where a very wide one would
// become a thin stripe, with black bands above and below.

#include "apps/ocr/image/image.hpp"
#include "apps/ocr/vision/geometry.hpp"
#include "kernels/tensor/tensor.hpp"

namespace troupe::ocr {

struct page_options {
  int max_side = 2000;      ///< a longer side is scaled down to this
  int min_side = 30;        ///< a shorter side is scaled up to this, as far as max_side allows
  int wide_ratio = 8;       ///< images wider than this many heights get bands
  int detection_side = 736; ///< the detector sees the shorter side at least this long
};

struct page {
  image pixels;
  int original_width = 0;
  int original_height = 0;
  float scale_x = 1; ///< original pixels per page pixel
  float scale_y = 1;
  int band = 0; ///< rows of each band, in page pixels
};

/// Takes a decoded image that is not empty. Any thread.
[[nodiscard]] page make_page(image decoded, const page_options& options = {});

/// The detector's input: float32 [1,3,H,W], H and W multiples of 32. The longer side never exceeds
/// `wide_ratio` times `detection_side` (or the page's own, if longer).
[[nodiscard]] tensor detection_input(const page& of, const page_options& options = {});

/// Where a box of the page lies in the original image, clipped to it.
[[nodiscard]] quad to_original(const page& of, const quad& box) noexcept;

} // namespace troupe::ocr
