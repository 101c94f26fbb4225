#include "apps/ocr/vision/page.hpp"

#include "apps/ocr/vision/resize.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace troupe::ocr {
namespace {

constexpr int grid = 32; // what the detector's strides ask for

struct extent {
  int width;
  int height;
};

// Rounds a half to even, as the models' training code did.
int on_grid(int side) noexcept {
  auto cells = static_cast<int>(std::nearbyint(static_cast<double>(side) / grid));
  return std::max(cells, 1) * grid;
}

extent scaled(const image& of, double ratio) noexcept {
  return {on_grid(static_cast<int>(of.width * ratio)),
          on_grid(static_cast<int>(of.height * ratio))};
}

void bound_sides(page& of, const page_options& options) {
  auto longer = std::max(of.pixels.width, of.pixels.height);
  if (longer > options.max_side) {
    auto [width, height] = scaled(of.pixels, static_cast<double>(options.max_side) / longer);
    of.pixels = resize(of.pixels, width, height);
  }
  auto shorter = std::min(of.pixels.width, of.pixels.height);
  if (shorter < options.min_side) {
    longer = std::max(of.pixels.width, of.pixels.height);
    double room = std::max(1.0, static_cast<double>(options.max_side) / longer);
    double wanted = static_cast<double>(options.min_side) / shorter;
    auto [width, height] = scaled(of.pixels, std::min(wanted, room));
    of.pixels = resize(of.pixels, width, height);
  }
}

void add_bands(page& of, const page_options& options) {
  int width = of.pixels.width;
  int height = of.pixels.height;
  bool thin = static_cast<double>(width) / height > options.wide_ratio;
  if (height > options.min_side && !thin)
    return;
  int wanted = std::max(width / options.wide_ratio, options.min_side) * 2;
  of.band = std::abs(wanted - height) / 2;
  image banded(width, height + 2 * of.band);
  std::memcpy(banded.row(of.band), of.pixels.pixels.data(), of.pixels.pixels.size());
  of.pixels = std::move(banded);
}

} // namespace

page make_page(image decoded, const page_options& options) {
  page made;
  made.original_width = decoded.width;
  made.original_height = decoded.height;
  made.pixels = std::move(decoded);
  bound_sides(made, options);
  made.scale_x = static_cast<float>(made.original_width) / static_cast<float>(made.pixels.width);
  made.scale_y = static_cast<float>(made.original_height) / static_cast<float>(made.pixels.height);
  add_bands(made, options);
  return made;
}

tensor detection_input(const page& of, const page_options& options) {
  const auto& pixels = of.pixels;
  double shorter = std::min(pixels.width, pixels.height);
  double longer = std::max(pixels.width, pixels.height);
  double ratio = std::max(1.0, options.detection_side / shorter);
  double longest = std::max(longer, 1.0 * options.wide_ratio * options.detection_side);
  auto [width, height] = scaled(pixels, std::min(ratio, longest / longer));

  auto count = std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  auto block = allocate_aligned(count * sizeof(float));
  write_planes(resize(pixels, width, height), reinterpret_cast<float*>(block.get()), width, height);
  tensor input;
  input.dims = {1, 3, height, width};
  input.data.view = {block.get(), count * sizeof(float)};
  input.data.owner = std::move(block);
  return input;
}

quad to_original(const page& of, const quad& box) noexcept {
  quad mapped;
  for (std::size_t i = 0; i < box.size(); ++i)
    mapped[i] = {std::clamp(box[i].x * of.scale_x, 0.0f, static_cast<float>(of.original_width)),
                 std::clamp((box[i].y - static_cast<float>(of.band)) * of.scale_y, 0.0f,
                            static_cast<float>(of.original_height))};
  return mapped;
}

} // namespace troupe::ocr
