#pragma once

// Private to vision/: OpenCV's headers stay out of the interfaces.

#include "apps/ocr/image/image.hpp"

#include <opencv2/core.hpp>

namespace troupe::ocr {

/// The same pixels, not copied; the image outlives the view.
[[nodiscard]] inline cv::Mat view_of(image& of) {
  return {of.height, of.width, CV_8UC3, of.pixels.data()};
}

/// For reading only: OpenCV has no view of constant pixels.
[[nodiscard]] inline cv::Mat view_of(const image& of) {
  return {of.height, of.width, CV_8UC3, const_cast<std::uint8_t*>(of.pixels.data())};
}

} // namespace troupe::ocr
