#include "apps/ocr/vision/page.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace troupe;
using namespace troupe::ocr;

namespace {

image filled(int width, int height, std::uint8_t value = 255) {
  image made(width, height);
  std::fill(made.pixels.begin(), made.pixels.end(), value);
  return made;
}

std::vector<std::int64_t> detection_dims(int width, int height) {
  auto input = detection_input(make_page(filled(width, height)));
  return {input.dims.begin(), input.dims.end()};
}

void check_dims(int width, int height, std::vector<std::int64_t> expected) {
  auto found = detection_dims(width, height);
  BOOST_TEST(found == expected, boost::test_tools::per_element());
}

} // namespace

BOOST_AUTO_TEST_SUITE(page_making)

BOOST_AUTO_TEST_CASE(an_image_of_common_size_is_kept_as_it_is) {
  auto made = make_page(filled(640, 480));
  BOOST_TEST(made.pixels.width == 640);
  BOOST_TEST(made.pixels.height == 480);
  BOOST_TEST(made.scale_x == 1.0f);
  BOOST_TEST(made.band == 0);
}

BOOST_AUTO_TEST_CASE(a_large_image_is_scaled_down_to_the_grid) {
  auto made = make_page(filled(4000, 3000));
  BOOST_TEST(made.pixels.width == 1984); // 2000 is no multiple of 32; half to even
  BOOST_TEST(made.pixels.height == 1504);
  BOOST_TEST(made.scale_x == 4000.0f / 1984.0f);
  BOOST_TEST(made.scale_y == 3000.0f / 1504.0f);
}

BOOST_AUTO_TEST_CASE(a_stripe_gets_black_bands_above_and_below) {
  auto made = make_page(filled(900, 100));
  BOOST_TEST(made.band == 62);
  BOOST_TEST(made.pixels.height == 224);
  BOOST_TEST(int{made.pixels.row(61)[0]} == 0);
  BOOST_TEST(int{made.pixels.row(62)[0]} == 255);
  BOOST_TEST(int{made.pixels.row(161)[899 * 3]} == 255);
  BOOST_TEST(int{made.pixels.row(162)[0]} == 0);
}

BOOST_AUTO_TEST_CASE(the_detector_sees_the_shorter_side_at_736_or_more) {
  check_dims(640, 480, {1, 3, 736, 992});
  check_dims(480, 640, {1, 3, 992, 736});
  check_dims(1600, 1200, {1, 3, 1216, 1600});
}

BOOST_AUTO_TEST_CASE(extreme_shapes_stay_within_bounds) {
  for (auto [width, height] : {std::pair{1, 1}, {1, 16'000}, {16'000, 1}, {2000, 10}, {30, 2000}}) {
    auto made = make_page(filled(width, height));
    BOOST_TEST(made.pixels.width >= 1);
    BOOST_TEST(std::max(made.pixels.width, made.pixels.height) <= 2016);
    auto dims = detection_dims(width, height);
    BOOST_TEST(dims[2] % 32 == 0);
    BOOST_TEST(dims[3] % 32 == 0);
    BOOST_TEST(std::max(dims[2], dims[3]) <= 5888);
  }
}

BOOST_AUTO_TEST_CASE(pixels_are_normalised_into_planes_of_blue_green_red) {
  image source(32, 32);
  for (std::size_t i = 0; i < source.pixels.size(); i += 3) {
    source.pixels[i + 1] = 255;
    source.pixels[i + 2] = 51;
  }
  auto input = detection_input(make_page(source));
  auto values = elements_of<float>(input.data);
  auto plane = values.size() / 3;
  BOOST_TEST(values[0] == -1.0f);
  BOOST_TEST(values[plane] == 1.0f);
  BOOST_TEST(values[2 * plane] == -0.6f, boost::test_tools::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(boxes_go_back_to_the_original_and_are_clipped_to_it) {
  auto made = make_page(filled(900, 100));
  auto box = to_original(made, {point{10, 70}, {890, 70}, {950, 170}, {10, 20}});
  BOOST_TEST((box[0] == point{10, 8}));
  BOOST_TEST((box[2] == point{900, 100}));
  BOOST_TEST((box[3] == point{10, 0}));
}

BOOST_AUTO_TEST_SUITE_END()
