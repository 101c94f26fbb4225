// The weights of linear and cubic interpolation around a position. With antialias a filter that
// shrinks is stretched over as many elements as become one. ONNX: Resize-19.

#include "kernels/cpu/resize/resize.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

float triangle(float distance) {
  return std::max(0.0F, 1.0F - std::abs(distance));
}

// Keys, "Cubic convolution interpolation for digital image processing", 1981.
float cubic(float distance, float a) {
  const float x = std::abs(distance);
  if (x < 1.0F)
    return ((a + 2.0F) * x - (a + 3.0F)) * x * x + 1.0F;
  if (x < 2.0F)
    return ((a * x - 5.0F * a) * x + 8.0F * a) * x - 4.0F * a;
  return 0.0F;
}

std::int64_t clamped(float position, std::int64_t size) {
  return static_cast<std::int64_t>(
      std::clamp(position, 0.0F, static_cast<float>(std::max<std::int64_t>(size - 1, 0))));
}

float rounded(const resize_rule& rule, float x, float scale) {
  if (rule.simple)
    return scale < 1.0F ? std::ceil(x) : std::floor(x); // as runtimes of that time settled on
  if (rule.rounding == "floor")
    return std::floor(x);
  if (rule.rounding == "ceil")
    return std::ceil(x);
  if (rule.rounding == "round_prefer_ceil")
    return std::floor(x + 0.5F);
  return std::ceil(x - 0.5F);
}

struct filter {
  bool is_cubic = false;
  float stretch = 1.0F; // elements of the input that one of the output spans, at least 1
  float coefficient = -0.75F;

  float reach() const { return (is_cubic ? 2.0F : 1.0F) * stretch; }
  std::int64_t taps() const { return 2 * static_cast<std::int64_t>(std::ceil(reach())); }
  float weight(float distance) const {
    return is_cubic ? cubic(distance / stretch, coefficient) : triangle(distance / stretch);
  }
};

// Appends the taps around `x`, their weights made to sum to 1 where the filter does not do so.
void add_taps(const resize_rule& rule, const filter& by, std::int64_t size, float x,
              resize_axis& to) {
  const float first = std::floor(x) - static_cast<float>(to.taps / 2 - 1);
  const auto begin = to.weight.size();
  float sum = 0.0F;
  for (std::int64_t tap = 0; tap < to.taps; ++tap) {
    const float at = first + static_cast<float>(tap);
    const bool excluded = rule.exclude_outside && (at < 0.0F || at > static_cast<float>(size - 1));
    to.from.push_back(clamped(at, size));
    to.weight.push_back(excluded ? 0.0F : by.weight(at - x));
    sum += to.weight.back();
  }
  if ((rule.exclude_outside || by.stretch > 1.0F) && sum != 0.0F)
    for (auto i = begin; i < to.weight.size(); ++i)
      to.weight[i] /= sum;
}

} // namespace

resize_axis resize_axis_of(const resize_rule& rule, const resize_extent& axis) {
  resize_axis made;
  const bool nearest = rule.how == resize_rule::mode::nearest;
  const filter by{rule.how == resize_rule::mode::cubic,
                  rule.antialias ? std::max(1.0F, 1.0F / axis.scale) : 1.0F,
                  rule.cubic_coefficient};
  if (!nearest)
    made.taps = by.taps();
  for (std::int64_t at = 0; at < axis.to; ++at) {
    const float x = source_coordinate(rule, axis, at);
    if (rule.crops())
      made.outside.push_back(x < 0.0F || x > static_cast<float>(axis.from - 1));
    if (nearest) {
      made.from.push_back(clamped(rounded(rule, x, axis.scale), axis.from));
      made.weight.push_back(1.0F);
    } else {
      add_taps(rule, by, axis.from, x, made);
    }
  }
  // An axis that stays as it is needs no taps.
  if (made.is_identity()) {
    made.taps = 1;
    made.from.clear();
    made.weight.assign(static_cast<std::size_t>(axis.to), 1.0F);
    for (std::int64_t at = 0; at < axis.to; ++at)
      made.from.push_back(at);
  }
  return made;
}

resize_axis resize_axis_of(const resize_rule& rule, std::int64_t from, std::int64_t to,
                           float scale) {
  return resize_axis_of(rule, resize_extent{.from = from, .to = to, .scale = scale});
}

} // namespace troupe::cpu
