#include "apps/ocr/vision/rectangle.hpp"

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace troupe::ocr {

quad in_order(quad corners) noexcept {
  std::sort(corners.begin(), corners.end(), [](point a, point b) { return a.x < b.x; });
  auto [a, b, c, d] = corners;
  if (b.y < a.y)
    std::swap(a, b);
  if (d.y < c.y)
    std::swap(c, d);
  return {a, c, d, b};
}

rectangle smallest_rectangle(std::span<const point> around) {
  std::vector<cv::Point2f> points;
  for (const auto& each : around)
    points.emplace_back(each.x, each.y);
  auto found = cv::minAreaRect(points);
  std::array<cv::Point2f, 4> corners;
  found.points(corners.data());
  quad ordered;
  std::transform(corners.begin(), corners.end(), ordered.begin(), [](const cv::Point2f& corner) {
    return point{corner.x, corner.y};
  });
  return {in_order(ordered), std::min(found.size.width, found.size.height)};
}

} // namespace troupe::ocr
