#include "apps/ocr/image/decode.hpp"

#include <algorithm>
#include <array>

namespace troupe::ocr {
namespace {

constexpr std::array png_start{std::byte{0x89}, std::byte{'P'}, std::byte{'N'}, std::byte{'G'}};
constexpr std::array jpeg_start{std::byte{0xff}, std::byte{0xd8}, std::byte{0xff}};

bool starts_with(std::span<const std::byte> file, std::span<const std::byte> magic) {
  return file.size() >= magic.size() && std::equal(magic.begin(), magic.end(), file.begin());
}

} // namespace

result<image> decode_image(std::span<const std::byte> file, const decode_limits& limits) {
  if (file.empty())
    return fail(errc::invalid_argument, "image: expected a PNG or JPEG file, got no bytes");
  if (starts_with(file, png_start))
    return decode_png(file, limits);
  if (starts_with(file, jpeg_start))
    return decode_jpeg(file, limits);
  return fail(errc::invalid_argument,
              "image: expected a PNG or JPEG file, got {} bytes that begin neither way",
              file.size());
}

result<void> check_size(std::int64_t width, std::int64_t height, const decode_limits& limits) {
  if (width <= 0 || height <= 0)
    return fail(errc::invalid_argument, "image: {} x {} pixels, expected at least 1 x 1", width,
                height);
  if (width > limits.max_side || height > limits.max_side || width * height > limits.max_pixels)
    return fail(errc::invalid_argument,
                "image: {} x {} pixels, at most {} on a side and {} in all are taken", width,
                height, limits.max_side, limits.max_pixels);
  return {};
}

} // namespace troupe::ocr
