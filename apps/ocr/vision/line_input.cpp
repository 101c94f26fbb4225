#include "apps/ocr/vision/line_input.hpp"

#include "apps/ocr/vision/resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::ocr {
namespace {

constexpr std::array widths{320, 480, 640, 960, 1280, 1920, 2560};

int width_in_proportion(const image& crop) noexcept {
  return static_cast<int>(std::ceil(line_height * static_cast<double>(crop.width) / crop.height));
}

} // namespace

std::span<const int> recognition_widths() noexcept {
  return widths;
}

int recognition_width(const image& crop) noexcept {
  auto enough = std::lower_bound(widths.begin(), widths.end(), width_in_proportion(crop));
  return enough == widths.end() ? widths.back() : *enough;
}

tensor line_input(std::span<const image* const> crops, int width) {
  auto row = std::size_t{3} * line_height * static_cast<std::size_t>(width);
  auto bytes = crops.size() * row * sizeof(float);
  auto block = allocate_aligned(bytes);
  auto* at = reinterpret_cast<float*>(block.get());
  std::fill_n(at, crops.size() * row, 0.0f);
  for (const auto* crop : crops) {
    int used = std::min(width_in_proportion(*crop), width);
    write_planes(resize(*crop, used, line_height), at, width, line_height);
    at += row;
  }
  tensor input;
  input.dims = {static_cast<std::int64_t>(crops.size()), 3, line_height, width};
  input.data.view = {block.get(), bytes};
  input.data.owner = std::move(block);
  return input;
}

} // namespace troupe::ocr
