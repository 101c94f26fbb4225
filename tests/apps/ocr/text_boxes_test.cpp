#include "apps/ocr/vision/text_boxes.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

using namespace troupe::ocr;

namespace {

struct canvas {
  canvas(int columns, int rows)
      : width(columns), height(rows),
        values(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

  void fill(int x0, int y0, int x1, int y1, float value) {
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x)
        at(x, y) = value;
  }
  float& at(int x, int y) {
    return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width)
                  + static_cast<std::size_t>(x)];
  }
  [[nodiscard]] std::vector<quad> boxes(int scale = 1, const box_options& options = {}) const {
    return find_text_boxes({values, width, height}, width * scale, height * scale, options);
  }

  int width;
  int height;
  std::vector<float> values;
};

} // namespace

BOOST_AUTO_TEST_SUITE(text_boxes)

BOOST_AUTO_TEST_CASE(an_empty_map_has_no_boxes) {
  BOOST_TEST(canvas(64, 64).boxes().empty());
}

BOOST_AUTO_TEST_CASE(a_bar_is_grown_by_its_area_over_its_perimeter) {
  canvas map(200, 100);
  map.fill(50, 40, 150, 60, 0.9f);
  auto boxes = map.boxes();
  BOOST_REQUIRE(boxes.size() == 1);
  // The contour spans 100 x 20 pixels, corner to corner after the dilation; grown by
  // 100 * 20 * 1.6 / 240 on each side.
  const float growth = 100 * 20 * 1.6f / 240;
  const auto& box = boxes.front();
  BOOST_TEST(std::abs(box[0].x - (49.5f - growth)) <= 1.5f);
  BOOST_TEST(std::abs(box[0].y - (39.5f - growth)) <= 1.5f);
  BOOST_TEST(std::abs(box[2].x - (149.5f + growth)) <= 1.5f);
  BOOST_TEST(std::abs(box[2].y - (59.5f + growth)) <= 1.5f);
}

BOOST_AUTO_TEST_CASE(boxes_are_in_pixels_of_the_page) {
  canvas map(200, 100);
  map.fill(50, 40, 150, 60, 0.9f);
  auto once = map.boxes(1).front();
  auto thrice = map.boxes(3).front();
  BOOST_TEST(std::abs(thrice[0].x - 3 * once[0].x) <= 3.0f);
  BOOST_TEST(std::abs(thrice[2].y - 3 * once[2].y) <= 3.0f);
}

BOOST_AUTO_TEST_CASE(corners_go_clockwise_from_the_top_left_on_a_tilted_bar) {
  canvas map(300, 200);
  for (int i = 0; i < 200; ++i)
    map.fill(50 + i, 60 + i / 4, 51 + i, 80 + i / 4, 0.9f);
  auto boxes = map.boxes();
  BOOST_REQUIRE(boxes.size() == 1);
  const auto& [top_left, top_right, bottom_right, bottom_left] = boxes.front();
  BOOST_TEST(top_left.x < top_right.x);
  BOOST_TEST(bottom_left.x < bottom_right.x);
  BOOST_TEST(top_left.y < bottom_left.y);
  BOOST_TEST(top_right.y < bottom_right.y);
  auto slope = (top_right.y - top_left.y) / (top_right.x - top_left.x);
  BOOST_TEST(std::abs(slope - 0.25f) < 0.03f);
}

BOOST_AUTO_TEST_CASE(faint_regions_and_specks_are_left_out) {
  canvas map(200, 100);
  map.fill(20, 20, 80, 30, 0.4f);   // text by the threshold, but of too little confidence
  map.fill(120, 20, 122, 22, 0.9f); // too small
  map.fill(20, 60, 80, 70, 0.25f);  // below the threshold
  BOOST_TEST(map.boxes().empty());
  BOOST_TEST(map.boxes(1, {.min_score = 0.35f}).size() == 1);
}

BOOST_AUTO_TEST_CASE(boxes_stay_on_the_page) {
  canvas map(100, 50);
  map.fill(0, 0, 100, 50, 1.0f);
  auto boxes = map.boxes();
  BOOST_REQUIRE(boxes.size() == 1);
  BOOST_TEST((boxes.front() == quad{point{0, 0}, {99, 0}, {99, 49}, {0, 49}}));
}

BOOST_AUTO_TEST_CASE(no_more_candidates_are_looked_at_than_allowed) {
  canvas map(400, 400);
  for (int y = 0; y < 400; y += 40)
    for (int x = 0; x < 400; x += 80)
      map.fill(x + 10, y + 10, x + 50, y + 20, 0.9f);
  BOOST_TEST(map.boxes().size() == 50);
  BOOST_TEST(map.boxes(1, {.max_candidates = 7}).size() == 7);
}

BOOST_AUTO_TEST_CASE(values_that_are_no_numbers_are_no_text) {
  canvas map(64, 64);
  map.fill(0, 0, 64, 64, std::nanf(""));
  BOOST_TEST(map.boxes().empty());
}

BOOST_AUTO_TEST_SUITE_END()
