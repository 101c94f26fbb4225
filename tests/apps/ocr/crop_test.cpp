#include "apps/ocr/vision/crop.hpp"
#include "apps/ocr/vision/line_input.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

using namespace troupe;
using namespace troupe::ocr;

namespace {

// Red grows to the right, green downwards.
image ramps(int width, int height) {
  image made(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      made.row(y)[3 * x + 1] = static_cast<std::uint8_t>(y);
      made.row(y)[3 * x + 2] = static_cast<std::uint8_t>(x);
    }
  return made;
}

image gray(int width, int height, std::uint8_t value) {
  image made(width, height);
  std::fill(made.pixels.begin(), made.pixels.end(), value);
  return made;
}

tensor input_of(const image& crop, int width) {
  const image* const crops[] = {&crop};
  return line_input(crops, width);
}

} // namespace

BOOST_AUTO_TEST_SUITE(crops)

BOOST_AUTO_TEST_CASE(an_upright_box_is_copied_out) {
  auto cut = crop(ramps(100, 60), {point{20, 10}, {60, 10}, {60, 30}, {20, 30}});
  BOOST_TEST(cut.width == 40);
  BOOST_TEST(cut.height == 20);
  BOOST_TEST(int{cut.row(0)[2]} == 20);
  BOOST_TEST(int{cut.row(5)[3 * 7 + 2]} == 27);
  BOOST_TEST(int{cut.row(5)[3 * 7 + 1]} == 15);
}

BOOST_AUTO_TEST_CASE(a_tilted_box_is_straightened) {
  // Down to the right with slope 1/4: green at the left edge's middle is that of the box's middle
  // there.
  auto cut = crop(ramps(200, 200), {point{40, 40}, {120, 60}, {115, 80}, {35, 60}});
  BOOST_TEST(cut.width == static_cast<int>(std::hypot(80.0, 20.0)));
  BOOST_TEST(cut.height == static_cast<int>(std::hypot(5.0, 20.0)));
  auto middle = cut.height / 2;
  BOOST_TEST(std::abs(int{cut.row(middle)[1]} - 50) <= 2);
  BOOST_TEST(std::abs(int{cut.row(middle)[3 * (cut.width - 1) + 1]} - 70) <= 2);
}

BOOST_AUTO_TEST_CASE(a_tall_box_is_turned_counterclockwise) {
  auto cut = crop(ramps(100, 100), {point{10, 20}, {30, 20}, {30, 80}, {10, 80}});
  BOOST_TEST(cut.width == 60);
  BOOST_TEST(cut.height == 20);
  BOOST_TEST(int{cut.row(0)[2]} == 29); // the right edge came to the top
  BOOST_TEST(int{cut.row(0)[1]} == 20); // and the top to the left
  BOOST_TEST(int{cut.row(19)[2]} == 10);
}

BOOST_AUTO_TEST_CASE(turning_upside_down_twice_gives_the_same_image) {
  auto source = ramps(31, 17);
  auto turned = rotated_180(source);
  BOOST_TEST(int{turned.row(0)[2]} == 30);
  BOOST_TEST(int{turned.row(0)[1]} == 16);
  BOOST_TEST((rotated_180(turned).pixels == source.pixels));
}

BOOST_AUTO_TEST_CASE(widths_come_in_few_sizes_and_depend_on_the_crop_alone) {
  BOOST_TEST(recognition_width(gray(10, 40, 0)) == 320);
  BOOST_TEST(recognition_width(gray(320, 48, 0)) == 320);
  BOOST_TEST(recognition_width(gray(321, 48, 0)) == 480);
  BOOST_TEST(recognition_width(gray(700, 24, 0)) == 1920);
  BOOST_TEST(recognition_width(gray(20'000, 10, 0)) == recognition_widths().back());
  BOOST_TEST(std::is_sorted(recognition_widths().begin(), recognition_widths().end()));
}

BOOST_AUTO_TEST_CASE(a_line_fills_its_part_of_the_input_and_the_rest_is_zero) {
  auto input = input_of(gray(100, 24, 255), 320); // 200 wide at 48 rows
  BOOST_TEST((input.dims == shape{1, 3, 48, 320}));
  auto values = elements_of<float>(input.data);
  for (std::size_t row : {std::size_t{0}, std::size_t{47}, std::size_t{3 * 48 - 1}}) {
    BOOST_TEST(values[row * 320] == 1.0f);
    BOOST_TEST(values[row * 320 + 199] == 1.0f);
    BOOST_TEST(values[row * 320 + 200] == 0.0f);
    BOOST_TEST(values[row * 320 + 319] == 0.0f);
  }
}

BOOST_AUTO_TEST_CASE(a_line_longer_than_the_input_is_squeezed) {
  auto values_of_long = input_of(gray(4000, 24, 0), direction_width);
  auto values = elements_of<float>(values_of_long.data);
  BOOST_TEST(values.back() == -1.0f);
}

BOOST_AUTO_TEST_CASE(several_lines_become_rows) {
  auto dark = gray(48, 48, 0);
  auto bright = gray(48, 48, 255);
  const image* const both[] = {&dark, &bright};
  auto input = line_input(both, 320);
  BOOST_TEST((input.dims == shape{2, 3, 48, 320}));
  auto values = elements_of<float>(input.data);
  BOOST_TEST(values.front() == -1.0f);
  BOOST_TEST(values[values.size() / 2] == 1.0f);
}

BOOST_AUTO_TEST_SUITE_END()
