#include "apps/ocr/image/exif.hpp"
#include "encode.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace troupe::ocr;

namespace {

int orientation_of(const std::string& segment) {
  return exif_orientation(std::as_bytes(std::span{segment}));
}

// Pixels numbered row by row in their first channel.
image numbered(int width, int height) {
  image made(width, height);
  for (int i = 0; i < width * height; ++i)
    made.pixels[static_cast<std::size_t>(i) * 3] = static_cast<std::uint8_t>(i);
  return made;
}

std::vector<int> numbers(const image& of) {
  std::vector<int> found;
  for (std::size_t i = 0; i < of.pixels.size(); i += 3)
    found.push_back(of.pixels[i]);
  return found;
}

} // namespace

BOOST_AUTO_TEST_SUITE(exif)

BOOST_AUTO_TEST_CASE(the_orientation_is_read_in_both_byte_orders) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    BOOST_TEST(orientation_of(test::exif_with_orientation(orientation, true)) == orientation);
    BOOST_TEST(orientation_of(test::exif_with_orientation(orientation, false)) == orientation);
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_upright) {
  BOOST_TEST(orientation_of("") == 1);
  BOOST_TEST(orientation_of("http://ns.adobe.com/xap/1.0/") == 1);
  BOOST_TEST(orientation_of(test::exif_with_orientation(9)) == 1);
  auto whole = test::exif_with_orientation(6);
  for (std::size_t kept = 0; kept < whole.size(); ++kept) {
    int found = orientation_of(whole.substr(0, kept));
    BOOST_TEST((found == 1 || found == 6));
  }
  auto far = whole;
  far.replace(10, 4, "\xff\xff\xff\xff"); // the directory lies beyond any file
  BOOST_TEST(orientation_of(far) == 1);
}

BOOST_AUTO_TEST_CASE(each_orientation_turns_and_mirrors_as_the_standard_says) {
  // 0 1 2
  // 3 4 5
  const std::vector<std::vector<int>> expected{
      {0, 1, 2, 3, 4, 5}, {2, 1, 0, 5, 4, 3}, {5, 4, 3, 2, 1, 0}, {3, 4, 5, 0, 1, 2},
      {0, 3, 1, 4, 2, 5}, {3, 0, 4, 1, 5, 2}, {5, 2, 4, 1, 3, 0}, {2, 5, 1, 4, 0, 3}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    auto turned = upright(numbered(3, 2), orientation);
    BOOST_TEST(turned.width == (orientation < 5 ? 3 : 2));
    BOOST_TEST(numbers(turned) == expected[static_cast<std::size_t>(orientation) - 1],
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
