#include "apps/ocr/vision/lines.hpp"

#include "apps/ocr/vision/rectangle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

namespace troupe::ocr {
namespace {

constexpr float pi = std::numbers::pi_v<float>;
constexpr float max_gap = 1.0f;    // of the lower box's height
constexpr float max_offset = 0.3f; // between the middles, likewise
constexpr float like_height = 0.6f;

struct placed {
  std::size_t index;
  float along;
  float across;
  float height;
};

float angle_of(const quad& box) noexcept {
  return std::atan2(box[1].y - box[0].y, box[1].x - box[0].x);
}

float length_of(const quad& box) noexcept {
  return std::hypot(box[1].x - box[0].x, box[1].y - box[0].y);
}

float height_of(const quad& box) noexcept {
  return std::hypot(box[3].x - box[0].x, box[3].y - box[0].y);
}

point middle_of(const quad& box) noexcept {
  return {(box[0].x + box[1].x + box[2].x + box[3].x) / 4,
          (box[0].y + box[1].y + box[2].y + box[3].y) / 4};
}

// The same point in axes along and across a direction.
point turned(point at, float angle) noexcept {
  return {at.x * std::cos(angle) + at.y * std::sin(angle),
          at.y * std::cos(angle) - at.x * std::sin(angle)};
}

// Long boxes know the page's direction best; steep ones hold vertical text and say nothing about
// it.
float page_angle(std::span<const quad> boxes) {
  std::vector<std::pair<float, float>> angles;
  float total = 0;
  for (const auto& box : boxes)
    if (auto angle = angle_of(box);
        std::abs(angle) < pi / 6 && length_of(box) > 2 * height_of(box)) {
      angles.emplace_back(angle, length_of(box));
      total += length_of(box);
    }
  std::sort(angles.begin(), angles.end());
  float passed = 0;
  for (auto [angle, length] : angles) {
    passed += length;
    if (2 * passed >= total)
      return angle;
  }
  return 0;
}

bool neighbours(const quad& left, const quad& right) noexcept {
  auto [low, high] = std::minmax({height_of(left), height_of(right)});
  if (low < like_height * high)
    return false;
  auto angle = angle_of(length_of(left) > length_of(right) ? left : right);
  auto end = turned({(left[1].x + left[2].x) / 2, (left[1].y + left[2].y) / 2}, angle);
  auto start = turned({(right[0].x + right[3].x) / 2, (right[0].y + right[3].y) / 2}, angle);
  return start.x - end.x < max_gap * low && std::abs(start.y - end.y) < max_offset * low;
}

quad around(const quad& a, const quad& b) {
  return smallest_rectangle(std::array{a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]}).corners;
}

} // namespace

std::vector<std::vector<std::size_t>> lines_of(std::span<const quad> boxes, bool upside_down) {
  float angle = page_angle(boxes) + (upside_down ? pi : 0.0f);
  std::vector<placed> rest;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    auto middle = turned(middle_of(boxes[i]), angle);
    rest.push_back({i, middle.x, middle.y, height_of(boxes[i])});
  }
  std::sort(rest.begin(), rest.end(),
            [](const placed& a, const placed& b) { return a.across < b.across; });

  std::vector<std::vector<std::size_t>> lines;
  for (auto first = rest.begin(); first != rest.end();) {
    auto last = std::find_if(first + 1, rest.end(), [&](const placed& next) {
      return next.across - first->across >= std::min(first->height, next.height) / 2;
    });
    std::sort(first, last, [](const placed& a, const placed& b) { return a.along < b.along; });
    auto& line = lines.emplace_back();
    std::transform(first, last, std::back_inserter(line),
                   [](const placed& box) { return box.index; });
    first = last;
  }
  return lines;
}

std::vector<quad> join_neighbours(std::span<const quad> boxes) {
  std::vector<quad> joined;
  for (const auto& line : lines_of(boxes)) {
    auto first = joined.size();
    for (auto index : line)
      if (joined.size() > first && neighbours(joined.back(), boxes[index]))
        joined.back() = around(joined.back(), boxes[index]);
      else
        joined.push_back(boxes[index]);
  }
  return joined;
}

} // namespace troupe::ocr
