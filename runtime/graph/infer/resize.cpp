#include "runtime/graph/infer/inference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace troupe::graph {

namespace {

// floor(size * scale), in the float arithmetic that ONNX prescribes.
result<dim> scaled(inference& at, dim size, float scale) {
  if (!(scale > 0.0F) || scale > 0x1p20F)
    return fail(errc::invalid_argument, "scales in (0, 2^20] expected, {} found", scale);
  if (scale == std::floor(scale))
    return floor_affine(size, static_cast<std::int64_t>(scale), 0, 1, at.symbols());
  if (size.known())
    return dim{static_cast<std::int64_t>(std::floor(static_cast<float>(size.size()) * scale))};
  const auto key = fmt::format("scale:{}:{}", size.symbol(), scale);
  return at.symbols().derived_dim(
      key, fmt::format("floor({}*{})", to_string(size, at.symbols()), scale), {&size, 1});
}

std::optional<std::vector<float>> floats(const inference& at, std::size_t input) {
  if (!at.has(input) || !at.input(input).constant
      || at.input(input).constant->type != dtype::float32)
    return std::nullopt;
  const auto content = elements_of<float>(at.input(input).constant->data);
  return std::vector<float>{content.begin(), content.end()};
}

result<void> set_scaled(inference& at, std::span<const float> scales,
                        std::span<const std::size_t> axes) {
  if (scales.size() != axes.size())
    return fail(errc::invalid_argument, "{} scales expected, {} found", axes.size(), scales.size());
  auto out = *at.dims(0);
  for (std::size_t index = 0; index < axes.size(); ++index) {
    auto size = scaled(at, out[axes[index]], scales[index]);
    if (!size)
      return propagate(size);
    out[axes[index]] = *size;
  }
  at.set(0, at.type(0), std::move(out));
  return {};
}

// Of a crop: scales of the region of interest, which input 1 holds as [begins, ends] from 0 to 1.
result<void> set_cropped(inference& at, std::span<const float> scales,
                         std::span<const std::size_t> axes) {
  const auto roi = floats(at, 1);
  if (!roi || scales.size() != axes.size() || roi->size() != 2 * axes.size())
    return fail(errc::invalid_argument,
                "an FP32 initializer of {} numbers and {} scales expected for a crop",
                2 * axes.size(), axes.size());
  auto out = *at.dims(0);
  for (std::size_t index = 0; index < axes.size(); ++index) {
    const auto part = (*roi)[index + axes.size()] - (*roi)[index];
    auto& size = out[axes[index]];
    const auto scaled_size =
        size.known() ? std::floor(static_cast<float>(size.size()) * part * scales[index]) : 0.0F;
    if (!(scaled_size >= 0.0F && scaled_size < 0x1p40F))
      return fail(errc::invalid_argument, "a size of 0 or more expected, {} found", scaled_size);
    if (part != 1.0F || scales[index] != 1.0F)
      size = size.known() ? dim{static_cast<std::int64_t>(scaled_size)} : at.symbols().fresh_dim();
  }
  at.set(0, at.type(0), std::move(out));
  return {};
}

// The sizes give one scale: the least that reaches all of them, or the greatest that goes beyond
// none.
result<void> set_proportional(inference& at, std::span<const element> sizes,
                              std::span<const std::size_t> axes) {
  const auto policy = at.attributes().text("keep_aspect_ratio_policy");
  if (policy != "not_larger" && policy != "not_smaller")
    return fail(errc::invalid_argument,
                "keep_aspect_ratio_policy stretch, not_larger or not_smaller expected, '{}' found",
                policy);
  auto out = *at.dims(0);
  std::optional<float> scale;
  bool known = true;
  for (std::size_t index = 0; index < axes.size(); ++index) {
    const auto from = out[axes[index]];
    known = known && sizes[index].is_number() && from.known() && from.size() > 0;
    if (!known)
      break;
    const auto one = static_cast<float>(sizes[index].number()) / static_cast<float>(from.size());
    scale = !scale ? one : policy == "not_larger" ? std::min(*scale, one) : std::max(*scale, one);
  }
  for (auto axis : axes)
    out[axis] = known && scale ? dim{static_cast<std::int64_t>(
                    std::floor(*scale * static_cast<float>(out[axis].size()) + 0.5F))}
                               : at.symbols().fresh_dim();
  at.set(0, at.type(0), std::move(out));
  return {};
}

result<void> set_sizes(inference& at, std::span<const element> sizes,
                       std::span<const std::size_t> axes) {
  if (sizes.size() != axes.size())
    return fail(errc::invalid_argument, "{} sizes expected, {} found", axes.size(), sizes.size());
  if (at.attributes().text("keep_aspect_ratio_policy", "stretch") != "stretch")
    return set_proportional(at, sizes, axes);
  auto out = *at.dims(0);
  for (std::size_t index = 0; index < axes.size(); ++index) {
    const auto& size = sizes[index];
    if (size.is_number() && size.number() < 1)
      return fail(errc::invalid_argument, "sizes of 1 or more expected, {} found", size.number());
    out[axes[index]] = size.is_known() ? size.size() : at.symbols().fresh_dim();
  }
  at.set(0, at.type(0), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Resize.html: scales in input 1 at opset 10; roi, scales,
// sizes in inputs 1 to 3 since 11; axes since 18.
result<void> infer_resize(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  std::vector<std::int64_t> named = at.attributes().integers("axes");
  if (named.empty()) {
    named.resize(data->size());
    std::iota(named.begin(), named.end(), 0);
  }
  auto axes = inference::axes_in(named, data->size());
  if (!axes)
    return propagate(axes);
  const std::size_t scales_input = at.version() < 11 ? 1 : 2;
  if (at.version() >= 11 && at.has(3)) {
    const auto sizes = at.elements(3);
    if (!sizes.empty())
      return set_sizes(at, sizes, *axes);
  } else if (const auto scales = floats(at, scales_input); scales && !scales->empty()) {
    if (at.attributes().text("coordinate_transformation_mode") == "tf_crop_and_resize")
      return set_cropped(at, *scales, *axes);
    return set_scaled(at, *scales, *axes);
  } else if (!at.has(scales_input) || at.length(scales_input) == 0) {
    return fail(errc::invalid_argument, "scales or sizes expected, neither found");
  }
  auto out = *data;
  for (auto axis : *axes)
    out[axis] = at.symbols().fresh_dim();
  at.set(0, at.type(0), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Upsample.html: Resize's elder, opsets 7 to 9.
result<void> infer_upsample(inference& at) {
  const auto* data = at.dims(0);
  const auto written = at.attributes().get<std::vector<float>>("scales", {});
  const auto scales = at.has(1) ? floats(at, 1) : std::optional{written};
  if (data == nullptr || !scales) {
    at.set(0, at.type(0), data == nullptr ? std::nullopt : std::optional{at.unknown(data->size())});
    return {};
  }
  std::vector<std::size_t> axes(data->size());
  std::iota(axes.begin(), axes.end(), 0);
  return set_scaled(at, *scales, axes);
}

constexpr std::array rules{
    infer_entry{"Resize", 1, 4, 1, infer_resize},
    infer_entry{"Upsample", 1, 2, 1, infer_upsample},
};

} // namespace

std::span<const infer_entry> resize_rules() {
  return rules;
}

} // namespace troupe::graph
