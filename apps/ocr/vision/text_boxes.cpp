#include "apps/ocr/vision/text_boxes.hpp"

#include "apps/ocr/vision/rectangle.hpp"

#include <opencv2/imgproc.hpp>

#include <clipper.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace troupe::ocr {
namespace {

constexpr float min_core_side = 3;  // of a rectangle before it is grown, in map pixels
constexpr float min_grown_side = 5; // and after
constexpr int min_box_side = 3;     // of the final box, in page pixels; exclusive

double mean_probability(const cv::Mat& map, const quad& box) {
  auto [left, right] = std::minmax({box[0].x, box[1].x, box[2].x, box[3].x});
  auto [top, bottom] = std::minmax({box[0].y, box[1].y, box[2].y, box[3].y});
  int x0 = std::clamp(static_cast<int>(std::floor(left)), 0, map.cols - 1);
  int x1 = std::clamp(static_cast<int>(std::ceil(right)), 0, map.cols - 1);
  int y0 = std::clamp(static_cast<int>(std::floor(top)), 0, map.rows - 1);
  int y1 = std::clamp(static_cast<int>(std::ceil(bottom)), 0, map.rows - 1);

  cv::Rect window(x0, y0, x1 - x0 + 1, y1 - y0 + 1);
  cv::Mat inside = cv::Mat::zeros(window.size(), CV_8UC1);
  std::vector<cv::Point> outline;
  for (const auto& corner : box)
    outline.emplace_back(static_cast<int>(corner.x - static_cast<float>(x0)),
                         static_cast<int>(corner.y - static_cast<float>(y0)));
  cv::fillPoly(inside, std::vector{outline}, cv::Scalar(1));
  return cv::mean(map(window), inside)[0];
}

std::vector<point> grown(const quad& box, double ratio) {
  std::vector<cv::Point2f> exact;
  ClipperLib::Path path;
  for (const auto& corner : box) {
    exact.emplace_back(corner.x, corner.y);
    path.emplace_back(static_cast<ClipperLib::cInt>(corner.x),
                      static_cast<ClipperLib::cInt>(corner.y));
  }
  double distance = cv::contourArea(exact) * ratio / cv::arcLength(exact, true);
  ClipperLib::ClipperOffset offset;
  offset.AddPath(path, ClipperLib::jtRound, ClipperLib::etClosedPolygon);
  ClipperLib::Paths paths;
  offset.Execute(paths, distance);

  std::vector<point> outline;
  if (paths.empty())
    return outline;
  for (const auto& vertex : paths.front())
    outline.push_back({static_cast<float>(vertex.X), static_cast<float>(vertex.Y)});
  return outline;
}

// From map pixels to whole page pixels.
quad on_page(const quad& box, const cv::Mat& map, int width, int height) noexcept {
  auto place = [](float at, int map_side, int side) {
    float scaled = std::nearbyint(at / static_cast<float>(map_side) * static_cast<float>(side));
    return std::clamp(scaled, 0.0f, static_cast<float>(side - 1));
  };
  quad placed;
  for (std::size_t i = 0; i < box.size(); ++i)
    placed[i] = {place(box[i].x, map.cols, width), place(box[i].y, map.rows, height)};
  return in_order(placed);
}

bool too_small(const quad& box) noexcept {
  auto side = [](point a, point b) { return static_cast<int>(std::hypot(a.x - b.x, a.y - b.y)); };
  return side(box[0], box[1]) <= min_box_side || side(box[0], box[3]) <= min_box_side;
}

std::optional<quad> box_of(const std::vector<cv::Point>& contour, const cv::Mat& map,
                           const box_options& options) {
  std::vector<point> points;
  for (const auto& each : contour)
    points.push_back({static_cast<float>(each.x), static_cast<float>(each.y)});
  auto core = smallest_rectangle(points);
  if (core.short_side < min_core_side)
    return std::nullopt;
  if (mean_probability(map, core.corners) < options.min_score)
    return std::nullopt;
  auto outline = grown(core.corners, options.unclip_ratio);
  if (outline.empty())
    return std::nullopt;
  auto whole = smallest_rectangle(outline);
  if (whole.short_side < min_grown_side)
    return std::nullopt;
  return whole.corners;
}

} // namespace

std::vector<quad> find_text_boxes(const probability_map& map, int page_width, int page_height,
                                  const box_options& options) {
  cv::Mat values(map.height, map.width, CV_32FC1, const_cast<float*>(map.values.data()));
  cv::Mat text = values > options.threshold;
  cv::dilate(text, text, cv::Mat::ones(2, 2, CV_8UC1));
  std::vector<std::vector<cv::Point>> contours;
  cv::findContours(text, contours, cv::RETR_LIST, cv::CHAIN_APPROX_SIMPLE);

  std::vector<quad> boxes;
  auto candidates = std::min(contours.size(), static_cast<std::size_t>(options.max_candidates));
  for (std::size_t i = 0; i < candidates; ++i)
    if (auto found = box_of(contours[i], values, options)) {
      auto placed = on_page(*found, values, page_width, page_height);
      if (!too_small(placed))
        boxes.push_back(placed);
    }
  return boxes;
}

} // namespace troupe::ocr
