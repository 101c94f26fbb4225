#include "kernels/cpu/grid_sample/sampler.hpp"

#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

// Weights of the four elements around a position `t` behind the second of them, as
// "Cubic convolution interpolation for digital image processing" (Keys, 1981) has them, a = -0.75.
std::array<double, 4> cubic_weights(double t) {
  constexpr double a = -0.75;
  const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

} // namespace

tl::expected<grid_sampler, std::string> grid_sampler::make(const kernel_spec& spec) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc.dims;
  const auto& grid = spec.inputs[1].desc.dims;
  const auto axes = data.size() - std::min<std::size_t>(data.size(), 2);
  if (axes < 1 || axes > 3 || grid.size() != data.size() || grid.front() != data.front()
      || grid.back() != static_cast<std::int64_t>(axes))
    return decline("a grid {} does not fit {}", to_string(grid), to_string(data));
  grid_sampler made;
  const auto mode = spec.attributes->text("mode", spec.version < 20 ? "bilinear" : "linear");
  const auto pad = spec.attributes->text("padding_mode", "zeros");
  if (mode == "nearest")
    made.filter_ = filter::nearest;
  else if (mode == "cubic" || mode == "bicubic")
    made.filter_ = filter::cubic;
  else if (mode != "linear" && mode != "bilinear")
    return decline("mode '{}' is not known", mode);
  if (pad == "border")
    made.padding_ = padding::border;
  else if (pad == "reflection")
    made.padding_ = padding::reflection;
  else if (pad != "zeros")
    return decline("padding mode '{}' is not known", pad);
  made.align_corners_ = spec.attributes->integer("align_corners", 0) != 0;
  const auto strides = row_major_strides(data);
  made.sizes_.assign(data.begin() + 2, data.end());
  made.strides_.assign(strides.begin() + 2, strides.end());
  if (element_count(made.sizes_) == 0 && spec.outputs[0].elements() > 0)
    return decline("an empty input has nothing to sample");
  return made;
}

double grid_sampler::reflected(double x, std::size_t axis) const {
  const double low = align_corners_ ? 0.0 : -0.5;
  const auto size = static_cast<double>(sizes_[axis]);
  const double width = align_corners_ ? size - 1 : size;
  if (width <= 0)
    return 0;
  const double folded = std::fmod(std::abs(x - low), 2 * width);
  return low + (folded < width ? folded : 2 * width - folded);
}

std::int64_t grid_sampler::position(double x, std::size_t axis) const {
  const auto last = static_cast<double>(sizes_[axis] - 1);
  if (x >= 0 && x <= last)
    return static_cast<std::int64_t>(x);
  if (padding_ == padding::zeros)
    return -1;
  if (padding_ == padding::reflection)
    x = std::trunc(reflected(x, axis));
  return static_cast<std::int64_t>(std::clamp(x, 0.0, last));
}

grid_sampler::axis_taps grid_sampler::along(std::size_t axis, double coordinate) const {
  constexpr double far = 0x1p40; // outside of every input
  const auto size = static_cast<double>(sizes_[axis]);
  double x = align_corners_ ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  x = std::isnan(x) ? -far : std::clamp(x, -far, far);
  if (filter_ == filter::nearest)
    x = std::nearbyint(x);
  const double low = align_corners_ ? 0.0 : -0.5;
  const double high = size - 1 - low;
  if (x < low || x > high) {
    if (padding_ == padding::border)
      x = std::clamp(x, 0.0, size - 1);
    else if (padding_ == padding::reflection)
      x = reflected(x, axis);
  }
  const double floor = std::floor(x);
  const double t = x - floor;
  axis_taps taps;
  const auto add = [&](double at, double weight) {
    taps.position[taps.count] = position(at, axis);
    taps.weight[taps.count++] = weight;
  };
  switch (filter_) {
    case filter::nearest: add(std::trunc(x), 1); break;
    case filter::linear:
      add(floor, 1 - t);
      if (t > 0)
        add(floor + 1, t);
      break;
    case filter::cubic: {
      const auto weights = cubic_weights(t);
      for (std::size_t tap = 0; tap < 4; ++tap)
        add(floor - 1 + static_cast<double>(tap), weights[tap]);
      break;
    }
  }
  return taps;
}

grid_taps grid_sampler::taps(std::span<const double> entry) const {
  grid_taps all;
  all.offset[0] = 0;
  all.weight[0] = 1;
  all.count = 1;
  for (std::size_t axis = 0; axis < axes(); ++axis) {
    const auto next = along(axis, entry[axes() - 1 - axis]);
    const auto before = all;
    all.count = 0;
    for (std::size_t i = 0; i < before.count; ++i)
      for (std::size_t tap = 0; tap < next.count; ++tap)
        if (next.position[tap] >= 0) {
          all.offset[all.count] = before.offset[i] + next.position[tap] * strides_[axis];
          all.weight[all.count++] = before.weight[i] * next.weight[tap];
        }
  }
  return all;
}

} // namespace troupe::cpu
