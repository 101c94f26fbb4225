#include "apps/ocr/image/decode.hpp"

#include <png.h>

#include <cstdint>
#include <vector>

namespace troupe::ocr {
namespace {

// libpng's simplified interface: it keeps its own setjmp points, so no jump crosses our frames.
class png_reader {
public:
  png_reader() noexcept { control_.version = PNG_IMAGE_VERSION; }
  ~png_reader() { png_image_free(&control_); }
  png_reader(const png_reader&) = delete;
  png_reader& operator=(const png_reader&) = delete;

  [[nodiscard]] result<void> open(std::span<const std::byte> file) {
    if (png_image_begin_read_from_memory(&control_, file.data(), file.size()) == 0)
      return refusal();
    return {};
  }

  [[nodiscard]] std::int64_t width() const noexcept { return control_.width; }
  [[nodiscard]] std::int64_t height() const noexcept { return control_.height; }
  [[nodiscard]] bool transparent() const noexcept {
    return (control_.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  }

  [[nodiscard]] result<void> read(std::vector<std::uint8_t>& pixels, png_uint_32 format) {
    control_.format = format;
    control_.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; // as other readers take it, without a gAMA chunk
    pixels.resize(PNG_IMAGE_SIZE(control_));
    if (png_image_finish_read(&control_, nullptr, pixels.data(), 0, nullptr) == 0)
      return refusal();
    return {};
  }

private:
  [[nodiscard]] tl::unexpected<error> refusal() const {
    return fail(errc::invalid_argument, "PNG image: {}", control_.message);
  }

  png_image control_{};
};

constexpr int opaque = 255;

// Text on a transparent ground is dark or bright; the ground takes the other side.
std::uint8_t contrasting_ground(const std::vector<std::uint8_t>& bgra) {
  std::uint64_t brightness = 0;
  std::uint64_t weight = 0;
  for (std::size_t i = 0; i < bgra.size(); i += 4) {
    brightness += (std::uint64_t{bgra[i]} + bgra[i + 1] + bgra[i + 2]) * bgra[i + 3];
    weight += std::uint64_t{3} * bgra[i + 3];
  }
  return brightness > 128 * weight ? 0 : 255;
}

void flatten(const std::vector<std::uint8_t>& bgra, std::vector<std::uint8_t>& bgr) {
  int ground = contrasting_ground(bgra);
  for (std::size_t from = 0, to = 0; from < bgra.size(); from += 4, to += 3) {
    int alpha = bgra[from + 3];
    for (std::size_t c = 0; c < 3; ++c)
      bgr[to + c] = static_cast<std::uint8_t>(
          (bgra[from + c] * alpha + ground * (opaque - alpha) + opaque / 2) / opaque);
  }
}

} // namespace

result<image> decode_png(std::span<const std::byte> file, const decode_limits& limits) {
  png_reader reader;
  if (auto opened = reader.open(file); !opened)
    return propagate(std::move(opened));
  if (auto fits = check_size(reader.width(), reader.height(), limits); !fits)
    return propagate(std::move(fits));

  image decoded;
  decoded.width = static_cast<int>(reader.width());
  decoded.height = static_cast<int>(reader.height());
  if (!reader.transparent()) {
    if (auto read = reader.read(decoded.pixels, PNG_FORMAT_BGR); !read)
      return propagate(std::move(read));
    return decoded;
  }
  std::vector<std::uint8_t> bgra;
  if (auto read = reader.read(bgra, PNG_FORMAT_BGRA); !read)
    return propagate(std::move(read));
  decoded.pixels.resize(bgra.size() / 4 * 3);
  flatten(bgra, decoded.pixels);
  return decoded;
}

} // namespace troupe::ocr
