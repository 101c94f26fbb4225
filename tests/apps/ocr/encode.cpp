#include "encode.hpp"

#include <png.h>

#include <cstdio>

#include <jpeglib.h>

#include <cstdlib>
#include <stdexcept>
#include <type_traits>

namespace troupe::ocr::test {
namespace {

file written(png_image& control, const void* pixels, const void* colours = nullptr) {
  png_alloc_size_t size = 0;
  if (png_image_write_to_memory(&control, nullptr, &size, 0, pixels, 0, colours) == 0)
    throw std::runtime_error(control.message);
  file bytes(size);
  if (png_image_write_to_memory(&control, bytes.data(), &size, 0, pixels, 0, colours) == 0)
    throw std::runtime_error(control.message);
  bytes.resize(size);
  return bytes;
}

png_image sized(int width, int height) {
  png_image control{};
  control.version = PNG_IMAGE_VERSION;
  control.width = static_cast<png_uint_32>(width);
  control.height = static_cast<png_uint_32>(height);
  return control;
}

} // namespace

template <class Sample>
file png(int width, int height, int channels, const std::vector<Sample>& samples) {
  constexpr png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                     PNG_FORMAT_RGBA};
  auto control = sized(width, height);
  control.format = formats[channels - 1];
  if constexpr (std::is_same_v<Sample, std::uint16_t>)
    control.format |= PNG_FORMAT_FLAG_LINEAR;
  return written(control, samples.data());
}

template file png(int, int, int, const std::vector<std::uint8_t>&);
template file png(int, int, int, const std::vector<std::uint16_t>&);

file palette_png(int width, int height, const std::vector<std::uint8_t>& palette,
                 const std::vector<std::uint8_t>& indices) {
  auto control = sized(width, height);
  control.format = PNG_FORMAT_RGB_COLORMAP;
  control.colormap_entries = static_cast<png_uint_32>(palette.size() / 3);
  return written(control, indices.data(), palette.data());
}

file jpeg(int width, int height, const std::vector<std::uint8_t>& samples,
          const jpeg_options& options) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* block = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &block, &size);
  codec.image_width = static_cast<JDIMENSION>(width);
  codec.image_height = static_cast<JDIMENSION>(height);
  codec.input_components = options.channels;
  codec.in_color_space = options.channels == 1   ? JCS_GRAYSCALE
                         : options.channels == 3 ? JCS_RGB
                                                 : JCS_CMYK;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, 95, TRUE);
  if (options.progressive)
    jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  if (!options.exif.empty())
    jpeg_write_marker(&codec, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(options.exif.data()),
                      static_cast<unsigned>(options.exif.size()));
  auto stride = static_cast<std::size_t>(width) * static_cast<std::size_t>(options.channels);
  for (int y = 0; y < height; ++y) {
    auto* row = const_cast<JSAMPROW>(samples.data() + static_cast<std::size_t>(y) * stride);
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  const auto* bytes = reinterpret_cast<const std::byte*>(block);
  file made(bytes, bytes + size);
  std::free(block);
  return made;
}

std::string exif_with_orientation(int orientation, bool little_endian) {
  auto number = [&](unsigned value, int size) {
    std::string bytes;
    for (int i = 0; i < size; ++i)
      bytes += static_cast<char>(value >> (8 * (little_endian ? i : size - 1 - i)));
    return bytes;
  };
  return std::string("Exif\0\0", 6) + (little_endian ? "II" : "MM") + number(42, 2) + number(8, 4)
         + number(1, 2) + number(0x0112, 2) + number(3, 2) + number(1, 4)
         + number(static_cast<unsigned>(orientation), 2) + number(0, 2) + number(0, 4);
}

} // namespace troupe::ocr::test
