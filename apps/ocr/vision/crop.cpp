#include "apps/ocr/vision/crop.hpp"

#include "apps/ocr/vision/cv_view.hpp"

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::ocr {
namespace {

constexpr double vertical_ratio = 1.5;

float distance(point a, point b) noexcept {
  return std::hypot(a.x - b.x, a.y - b.y);
}

} // namespace

image crop(const image& from, const quad& box) {
  int width =
      std::max(1, static_cast<int>(std::max(distance(box[0], box[1]), distance(box[2], box[3]))));
  int height =
      std::max(1, static_cast<int>(std::max(distance(box[0], box[3]), distance(box[1], box[2]))));
  auto right = static_cast<float>(width);
  auto bottom = static_cast<float>(height);
  std::array<cv::Point2f, 4> corners;
  std::transform(box.begin(), box.end(), corners.begin(),
                 [](point corner) { return cv::Point2f(corner.x, corner.y); });
  std::array<cv::Point2f, 4> straight{cv::Point2f(0, 0), cv::Point2f(right, 0),
                                      cv::Point2f(right, bottom), cv::Point2f(0, bottom)};

  image cut(width, height);
  auto target = view_of(cut);
  cv::warpPerspective(view_of(from), target,
                      cv::getPerspectiveTransform(corners.data(), straight.data()), target.size(),
                      cv::INTER_CUBIC, cv::BORDER_REPLICATE);
  if (static_cast<double>(height) / width < vertical_ratio)
    return cut;
  image turned(height, width);
  auto turned_target = view_of(turned);
  cv::rotate(target, turned_target, cv::ROTATE_90_COUNTERCLOCKWISE);
  return turned;
}

image rotated_180(const image& of) {
  image turned(of.width, of.height);
  auto target = view_of(turned);
  cv::rotate(view_of(of), target, cv::ROTATE_180);
  return turned;
}

} // namespace troupe::ocr
