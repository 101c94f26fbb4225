#include "apps/ocr/vision/resize.hpp"

#include "apps/ocr/vision/cv_view.hpp"

#include <opencv2/imgproc.hpp>

#include <array>
#include <cstddef>

namespace troupe::ocr {
namespace {

std::array<float, 256> normalised_values() noexcept {
  std::array<float, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = (static_cast<float>(i) / 255.0f - 0.5f) / 0.5f;
  return table;
}

} // namespace

image resize(const image& source, int width, int height) {
  image scaled(width, height);
  auto target = view_of(scaled);
  cv::resize(view_of(source), target, target.size(), 0, 0, cv::INTER_LINEAR);
  return scaled;
}

void write_planes(const image& source, float* planes, int plane_width, int plane_height) {
  static const auto values = normalised_values();
  auto plane = static_cast<std::size_t>(plane_width) * static_cast<std::size_t>(plane_height);
  for (int y = 0; y < source.height; ++y) {
    const auto* from = source.row(y);
    auto* to = planes + static_cast<std::size_t>(y) * static_cast<std::size_t>(plane_width);
    for (int x = 0; x < source.width; ++x, from += 3, ++to)
      for (std::size_t c = 0; c < 3; ++c)
        to[c * plane] = values[from[c]];
  }
}

} // namespace troupe::ocr
