#include "apps/ocr/image/decode.hpp"
#include "encode.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <string>

using namespace troupe;
using namespace troupe::ocr;
using test::file;
using bytes = std::vector<std::uint8_t>;

namespace {

using colour = std::array<int, 3>; // blue, green, red

colour at(const image& of, int x, int y) {
  const auto* pixel = of.row(y) + 3 * x;
  return {pixel[0], pixel[1], pixel[2]};
}

void check_near(const colour& found, const colour& expected, int tolerance) {
  for (std::size_t c = 0; c < 3; ++c)
    BOOST_TEST(std::abs(found[c] - expected[c]) <= tolerance,
               "channel " << c << " is " << found[c] << ", expected " << expected[c]);
}

image decoded(const file& from) {
  auto read = decode_image(from);
  BOOST_REQUIRE_MESSAGE(read, read.error().text);
  return std::move(*read);
}

void check_refused(const file& from, const std::string& part, const decode_limits& limits = {}) {
  auto read = decode_image(from, limits);
  BOOST_REQUIRE(!read);
  BOOST_TEST((read.error().code == errc::invalid_argument));
  BOOST_TEST(read.error().text.find(part) != std::string::npos, read.error().text);
}

file text_file(const std::string& text) {
  auto view = std::as_bytes(std::span{text});
  return {view.begin(), view.end()};
}

// A left half of one colour and a right half of another; coarse enough for JPEG.
bytes halves(const bytes& left, const bytes& right, int side = 32) {
  bytes samples;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const auto& from = x < side / 2 ? left : right;
      samples.insert(samples.end(), from.begin(), from.end());
    }
  return samples;
}

} // namespace

BOOST_AUTO_TEST_SUITE(decode)

BOOST_AUTO_TEST_CASE(an_rgb_png_becomes_blue_green_red) {
  auto read = decoded(test::png<std::uint8_t>(2, 1, 3, {10, 20, 30, 40, 50, 60}));
  BOOST_TEST(read.width == 2);
  BOOST_TEST(read.height == 1);
  BOOST_TEST((at(read, 0, 0) == colour{30, 20, 10}));
  BOOST_TEST((at(read, 1, 0) == colour{60, 50, 40}));
}

BOOST_AUTO_TEST_CASE(a_gray_png_becomes_three_equal_channels) {
  auto read = decoded(test::png<std::uint8_t>(1, 2, 1, {7, 200}));
  BOOST_TEST((at(read, 0, 0) == colour{7, 7, 7}));
  BOOST_TEST((at(read, 0, 1) == colour{200, 200, 200}));
}

BOOST_AUTO_TEST_CASE(a_palette_is_looked_up) {
  auto read = decoded(test::palette_png(2, 1, {255, 0, 0, 0, 128, 255}, {1, 0}));
  BOOST_TEST((at(read, 0, 0) == colour{255, 128, 0}));
  BOOST_TEST((at(read, 1, 0) == colour{0, 0, 255}));
}

BOOST_AUTO_TEST_CASE(sixteen_bits_of_linear_light_become_eight_of_srgb) {
  auto read = decoded(test::png<std::uint16_t>(3, 1, 1, {0, 14146, 65535}));
  check_near(at(read, 0, 0), {0, 0, 0}, 0);
  check_near(at(read, 1, 0), {128, 128, 128}, 1);
  check_near(at(read, 2, 0), {255, 255, 255}, 0);
}

BOOST_AUTO_TEST_CASE(dark_on_transparent_is_laid_on_white) {
  auto read = decoded(test::png<std::uint8_t>(3, 1, 4, {0, 0, 0, 255, 9, 9, 9, 0, 0, 0, 0, 51}));
  check_near(at(read, 0, 0), {0, 0, 0}, 0);
  check_near(at(read, 1, 0), {255, 255, 255}, 0);
  check_near(at(read, 2, 0), {204, 204, 204}, 1);
}

BOOST_AUTO_TEST_CASE(bright_on_transparent_is_laid_on_black) {
  auto read = decoded(test::png<std::uint8_t>(2, 1, 2, {250, 255, 250, 0}));
  check_near(at(read, 0, 0), {250, 250, 250}, 0);
  check_near(at(read, 1, 0), {0, 0, 0}, 0);
}

BOOST_AUTO_TEST_CASE(a_jpeg_keeps_its_colours) {
  auto samples = halves({220, 30, 60}, {20, 90, 200});
  for (bool progressive : {false, true}) {
    auto read = decoded(test::jpeg(32, 32, samples, {3, progressive, {}}));
    check_near(at(read, 4, 16), {60, 30, 220}, 6);
    check_near(at(read, 28, 16), {200, 90, 20}, 6);
  }
}

BOOST_AUTO_TEST_CASE(a_gray_jpeg_becomes_three_equal_channels) {
  auto read = decoded(test::jpeg(32, 32, halves({40}, {180}), {1, false, {}}));
  check_near(at(read, 4, 16), {40, 40, 40}, 3);
  check_near(at(read, 28, 16), {180, 180, 180}, 3);
}

BOOST_AUTO_TEST_CASE(the_inks_of_a_four_channel_jpeg_become_light) {
  // As Adobe stores them: 255 is no ink.
  auto samples = halves({255, 0, 255, 255}, {255, 255, 255, 60});
  auto read = decoded(test::jpeg(32, 32, samples, {4, false, {}}));
  check_near(at(read, 4, 16), {255, 0, 255}, 8);
  check_near(at(read, 28, 16), {60, 60, 60}, 8);
}

BOOST_AUTO_TEST_CASE(the_orientation_of_a_jpeg_is_applied) {
  auto samples = halves({200, 200, 200}, {20, 20, 20});
  samples.resize(std::size_t{32} * 16 * 3); // 32 wide, 16 high
  auto stored = [&](int orientation, bool little) {
    return decoded(
        test::jpeg(32, 16, samples, {3, false, test::exif_with_orientation(orientation, little)}));
  };
  auto quarter = stored(6, true); // to be turned clockwise: what is left comes to the top
  BOOST_TEST(quarter.width == 16);
  BOOST_TEST(quarter.height == 32);
  check_near(at(quarter, 8, 4), {200, 200, 200}, 6);
  check_near(at(quarter, 8, 28), {20, 20, 20}, 6);
  auto back = stored(8, false);
  check_near(at(back, 8, 28), {200, 200, 200}, 6);
  auto half = stored(3, true);
  BOOST_TEST(half.width == 32);
  check_near(at(half, 28, 8), {200, 200, 200}, 6);
}

BOOST_AUTO_TEST_CASE(files_of_other_kinds_are_refused_by_name) {
  check_refused({}, "got no bytes");
  check_refused(text_file("GIF89a and so on"), "expected a PNG or JPEG file, got 16 bytes");
  check_refused(text_file("\x89P"), "expected a PNG or JPEG file");
}

BOOST_AUTO_TEST_CASE(files_cut_anywhere_are_refused) {
  auto png = test::png<std::uint8_t>(32, 32, 3, halves({220, 30, 60}, {20, 90, 200}));
  auto baseline = test::jpeg(32, 32, halves({220, 30, 60}, {20, 90, 200}));
  for (const auto& whole : {png, baseline})
    for (std::size_t kept = 0; kept + 16 < whole.size(); kept += 7) {
      auto cut = file(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept));
      BOOST_TEST(!decode_image(cut), kept << " of " << whole.size() << " bytes");
    }
  check_refused(file(baseline.begin(), baseline.begin() + 650), "JPEG image: ");
}

BOOST_AUTO_TEST_CASE(flipped_bits_end_in_an_image_or_an_error) {
  auto png = test::png<std::uint8_t>(16, 16, 3, halves({220, 30, 60}, {20, 90, 200}, 16));
  auto jpeg = test::jpeg(16, 16, halves({220, 30, 60}, {20, 90, 200}, 16), {3, true, {}});
  for (auto whole : {png, jpeg})
    for (std::size_t i = 0; i < whole.size(); ++i) {
      whole[i] ^= std::byte{0x41};
      if (auto read = decode_image(whole, {1000, 100'000}))
        BOOST_TEST(!read->empty());
      else
        BOOST_TEST(!read.error().text.empty());
      whole[i] ^= std::byte{0x41};
    }
}

BOOST_AUTO_TEST_CASE(sizes_beyond_the_limits_are_refused_before_decoding) {
  auto wide = test::png<std::uint8_t>(100, 4, 1, bytes(400));
  check_refused(wide, "100 x 4 pixels, at most 99 on a side", {99, 1000});
  check_refused(wide, "399 in all", {100, 399});
  BOOST_TEST(bool{decode_image(wide, {100, 400})});
  check_refused(test::jpeg(64, 2, bytes(64 * 2 * 3)), "64 x 2 pixels", {63, 1000});
}

BOOST_AUTO_TEST_CASE(a_header_that_claims_a_huge_image_allocates_nothing) {
  auto small = test::png<std::uint8_t>(1, 1, 1, {0});
  auto chunk = file(small.begin(), small.end());
  // Width and height of IHDR, at offset 16; its checksum no longer fits, which may be told first.
  for (std::size_t i = 16; i < 24; ++i)
    chunk[i] = std::byte{0x7f};
  BOOST_TEST(!decode_image(chunk));
  auto jpeg = test::jpeg(8, 8, bytes(8 * 8 * 3));
  // Height and width of SOF0, four bytes behind its marker and length.
  const std::array frame{std::byte{0xff}, std::byte{0xc0}};
  auto start = std::search(jpeg.begin(), jpeg.end(), frame.begin(), frame.end());
  BOOST_REQUIRE((start != jpeg.end()));
  for (int i = 5; i < 9; ++i)
    *(start + i) = std::byte{0xff};
  check_refused(jpeg, "JPEG image");
}

BOOST_AUTO_TEST_SUITE_END()
