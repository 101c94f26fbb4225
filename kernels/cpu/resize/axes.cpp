// Where a resized position comes from: the coordinate formulas of ONNX Resize-11, -13, -18 and -19,
// and of Resize-10 and Upsample-9, which know one only.

#include "kernels/cpu/resize/resize.hpp"

#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

bool resize_axis::is_identity() const noexcept {
  for (std::size_t i = 0; i < low.size(); ++i)
    if (low[i] != static_cast<std::int64_t>(i) || weight[i] != 0.0F)
      return false;
  return true;
}

namespace {

float source_coordinate(const resize_rule& rule, std::int64_t at, std::int64_t from,
                        std::int64_t to, float scale) {
  const auto x = static_cast<float>(at);
  const auto out = static_cast<float>(to);
  const auto in = static_cast<float>(from);
  if (scale == 1.0F)
    return x;
  if (rule.simple || rule.coordinates == "asymmetric")
    return x / scale;
  if (rule.coordinates == "pytorch_half_pixel")
    return to > 1 ? (x + 0.5F) / scale - 0.5F : 0.0F;
  if (rule.coordinates == "align_corners")
    return to > 1 ? x * (in - 1.0F) / (out - 1.0F) : 0.0F;
  if (rule.coordinates == "tf_half_pixel_for_nn")
    return (x + 0.5F) / scale;
  if (rule.coordinates == "half_pixel_symmetric") {
    const float adjustment = out / (scale * in);
    return in / 2.0F * (1.0F - adjustment) + (x + 0.5F) / scale - 0.5F;
  }
  return (x + 0.5F) / scale - 0.5F;
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

} // namespace

tl::expected<resize_rule, std::string> resize_rule_of(const kernel_spec& spec) {
  resize_rule rule;
  const auto mode = spec.attributes->text("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "bilinear")
    return decline("mode '{}' is not supported", mode);
  rule.linear = mode != "nearest";
  rule.simple = spec.version < 11 || spec.op_type == "Upsample";
  rule.coordinates = spec.attributes->text("coordinate_transformation_mode", "half_pixel");
  rule.rounding = spec.attributes->text("nearest_mode", "round_prefer_floor");
  constexpr std::string_view known[] = {"half_pixel",           "pytorch_half_pixel",
                                        "align_corners",        "asymmetric",
                                        "tf_half_pixel_for_nn", "half_pixel_symmetric"};
  if (std::ranges::find(known, rule.coordinates) == std::end(known))
    return decline("coordinate mode '{}' is not supported", rule.coordinates);
  if (spec.attributes->integer("antialias", 0) != 0)
    return decline("antialias is not supported");
  if (spec.attributes->text("keep_aspect_ratio_policy", "stretch") != "stretch")
    return decline("an aspect ratio policy is not supported");
  return rule;
}

tl::expected<std::vector<float>, std::string> constant_scales(const kernel_spec& spec) {
  const auto& from = spec.inputs[0].desc.dims;
  const auto& to = spec.outputs[0].dims;
  const bool early = spec.version < 11 || spec.op_type == "Upsample";
  const std::size_t scales_at = early ? 1 : 2;
  std::vector<float> scales;
  if (spec.op_type == "Upsample" && spec.version < 9) {
    scales = spec.attributes->get<std::vector<float>>("scales", {});
  } else if (has_input(spec, scales_at) && spec.inputs[scales_at].desc.elements() > 0) {
    const auto& constant = spec.inputs[scales_at].constant;
    if (!constant)
      return scales;
    if (constant->type != dtype::float32)
      return decline("scales are {}, not FP32", to_string(constant->type));
    const auto listed = elements_of<float>(constant->data);
    scales.assign(listed.begin(), listed.end());
  } else {
    for (std::size_t axis = 0; axis < from.size(); ++axis)
      scales.push_back(static_cast<float>(to[axis])
                       / static_cast<float>(std::max<std::int64_t>(from[axis], 1)));
    return scales;
  }
  const auto axes = spec.attributes->integers("axes");
  if (!axes.empty()) {
    std::vector<float> spread(from.size(), 1.0F);
    for (std::size_t i = 0; i < axes.size() && i < scales.size(); ++i)
      if (const auto axis = axis_index(axes[i], from.size()))
        spread[*axis] = scales[i];
    scales = std::move(spread);
  }
  if (scales.size() != from.size())
    return decline("{} scales for rank {}", scales.size(), from.size());
  return scales;
}

resize_axis resize_axis_of(const resize_rule& rule, std::int64_t from, std::int64_t to,
                           float scale) {
  resize_axis axis;
  for (std::int64_t at = 0; at < to; ++at) {
    const float x = source_coordinate(rule, at, from, to, scale);
    const auto inside = [from](float position) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(position), 0, from - 1);
    };
    if (rule.linear) {
      const float clamped = std::clamp(x, 0.0F, static_cast<float>(from - 1));
      const float low = std::floor(clamped);
      axis.low.push_back(inside(low));
      axis.high.push_back(inside(low + 1.0F));
      axis.weight.push_back(clamped - low);
    } else {
      axis.low.push_back(inside(rounded(rule, x, scale)));
      axis.high.push_back(axis.low.back());
      axis.weight.push_back(0.0F);
    }
  }
  return axis;
}

} // namespace troupe::cpu
