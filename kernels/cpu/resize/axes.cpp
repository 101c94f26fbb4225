// Where a resized position comes from: the coordinate formulas of ONNX Resize-11, -13, -18 and -19,
// and of Resize-10 and Upsample-9, which know one only.

#include "kernels/cpu/resize/resize.hpp"

#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <limits>

namespace troupe::cpu {

bool resize_axis::is_identity() const noexcept {
  const auto count = static_cast<std::int64_t>(weight.size()) / taps;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!outside.empty() && outside[static_cast<std::size_t>(i)])
      return false;
    for (auto tap = i * taps; tap < (i + 1) * taps; ++tap) {
      const auto at = static_cast<std::size_t>(tap);
      if (from[at] == i ? weight[at] != 1.0F && weight[at] != 0.0F : weight[at] != 0.0F)
        return false;
    }
  }
  return true;
}

float source_coordinate(const resize_rule& rule, const resize_extent& axis, std::int64_t at) {
  const auto x = static_cast<float>(at);
  const auto out = static_cast<float>(axis.to);
  const auto in = static_cast<float>(axis.from);
  const float scale = axis.scale;
  if (rule.crops()) {
    const float begin = axis.roi_begin * (in - 1.0F);
    const float width = (axis.roi_end - axis.roi_begin) * (in - 1.0F);
    return axis.to > 1 ? begin + x * width / (out - 1.0F) : begin + 0.5F * width;
  }
  if (scale == 1.0F)
    return x;
  if (rule.simple || rule.coordinates == "asymmetric")
    return x / scale;
  if (rule.coordinates == "pytorch_half_pixel")
    return axis.to > 1 ? (x + 0.5F) / scale - 0.5F : 0.0F;
  if (rule.coordinates == "align_corners")
    return axis.to > 1 ? x * (in - 1.0F) / (out - 1.0F) : 0.0F;
  if (rule.coordinates == "tf_half_pixel_for_nn")
    return (x + 0.5F) / scale;
  if (rule.coordinates == "half_pixel_symmetric") {
    const float adjustment = out / (scale * in);
    return in / 2.0F * (1.0F - adjustment) + (x + 0.5F) / scale - 0.5F;
  }
  return (x + 0.5F) / scale - 0.5F;
}

tl::expected<resize_rule, std::string> resize_rule_of(const kernel_spec& spec) {
  resize_rule rule;
  const auto mode = spec.attributes->text("mode", "nearest");
  if (mode == "linear" || mode == "bilinear")
    rule.how = resize_rule::mode::linear;
  else if (mode == "cubic")
    rule.how = resize_rule::mode::cubic;
  else if (mode != "nearest")
    return decline("mode '{}' is not known", mode);
  rule.simple = spec.version < 11 || spec.op_type == "Upsample";
  rule.coordinates = spec.attributes->text("coordinate_transformation_mode", "half_pixel");
  rule.rounding = spec.attributes->text("nearest_mode", "round_prefer_floor");
  rule.antialias = spec.attributes->integer("antialias", 0) != 0;
  rule.exclude_outside = spec.attributes->integer("exclude_outside", 0) != 0;
  rule.cubic_coefficient = spec.attributes->real("cubic_coeff_a", -0.75F);
  rule.extrapolation = spec.attributes->real("extrapolation_value", 0.0F);
  constexpr std::string_view known[] = {
      "half_pixel",           "pytorch_half_pixel",   "align_corners",     "asymmetric",
      "tf_half_pixel_for_nn", "half_pixel_symmetric", "tf_crop_and_resize"};
  if (std::ranges::find(known, rule.coordinates) == std::end(known))
    return decline("coordinate mode '{}' is not known", rule.coordinates);
  return rule;
}

namespace {

// What output sizes say. Where the aspect ratio is kept, the sizes asked for give one scale for all
// axes, of which the output's sizes are rounded.
tl::expected<std::vector<float>, std::string> scales_of_sizes(const kernel_spec& spec) {
  const auto& from = spec.inputs[0].desc.dims;
  const auto& to = spec.outputs[0].dims;
  std::vector<float> scales;
  for (std::size_t axis = 0; axis < from.size(); ++axis)
    scales.push_back(static_cast<float>(to[axis])
                     / static_cast<float>(std::max<std::int64_t>(from[axis], 1)));
  const auto policy = spec.attributes->text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || !has_input(spec, 3))
    return scales;
  const auto wanted = constant_integers(spec, 3);
  if (!wanted)
    return decline("sizes that keep the aspect ratio are not an initializer");
  auto axes = spec.attributes->integers("axes");
  if (axes.empty())
    for (std::size_t axis = 0; axis < from.size(); ++axis)
      axes.push_back(static_cast<std::int64_t>(axis));
  float scale = policy == "not_larger" ? std::numeric_limits<float>::infinity() : 0.0F;
  for (std::size_t i = 0; i < axes.size() && i < wanted->size(); ++i)
    if (const auto axis = axis_index(axes[i], from.size()); axis && from[*axis] > 0) {
      const auto one = static_cast<float>((*wanted)[i]) / static_cast<float>(from[*axis]);
      scale = policy == "not_larger" ? std::min(scale, one) : std::max(scale, one);
    }
  for (const auto named : axes)
    if (const auto axis = axis_index(named, from.size()))
      scales[*axis] = scale;
  return scales;
}

} // namespace

tl::expected<std::vector<float>, std::string> constant_scales(const kernel_spec& spec) {
  const auto& from = spec.inputs[0].desc.dims;
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
    return scales_of_sizes(spec);
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

} // namespace troupe::cpu
