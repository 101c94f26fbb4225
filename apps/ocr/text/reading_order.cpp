#include "apps/ocr/text/reading_order.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace troupe::ocr {
namespace {

// A box in axes along and across the lines.
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

// Long boxes know the page's direction best; steep ones hold vertical text and say nothing about it.
float page_angle(std::span<const quad> boxes) {
  constexpr float steep = std::numbers::pi_v<float> / 6;
  std::vector<std::pair<float, float>> angles;
  float total = 0;
  for (const auto& box : boxes)
    if (auto angle = angle_of(box); std::abs(angle) < steep && length_of(box) > 2 * height_of(box)) {
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

placed place(const quad& box, std::size_t index, float angle) noexcept {
  float x = (box[0].x + box[1].x + box[2].x + box[3].x) / 4;
  float y = (box[0].y + box[1].y + box[2].y + box[3].y) / 4;
  return {index, x * std::cos(angle) + y * std::sin(angle),
          y * std::cos(angle) - x * std::sin(angle), height_of(box)};
}

} // namespace

std::vector<std::size_t> reading_order(std::span<const quad> boxes, bool upside_down) {
  float angle = page_angle(boxes) + (upside_down ? std::numbers::pi_v<float> : 0.0f);
  std::vector<placed> rest;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    rest.push_back(place(boxes[i], i, angle));
  std::sort(rest.begin(), rest.end(),
            [](const placed& a, const placed& b) { return a.across < b.across; });

  std::vector<std::size_t> order;
  for (auto first = rest.begin(); first != rest.end();) {
    auto last = std::find_if(first + 1, rest.end(), [&](const placed& next) {
      return next.across - first->across >= std::min(first->height, next.height) / 2;
    });
    std::sort(first, last, [](const placed& a, const placed& b) { return a.along < b.along; });
    std::transform(first, last, std::back_inserter(order),
                   [](const placed& box) { return box.index; });
    first = last;
  }
  return order;
}

} // namespace troupe::ocr
