#include "kernels/op/window.hpp"

#include <algorithm>
#include <string>

namespace troupe {
namespace {

// ONNX leaves sizes to the model; this keeps every product below far from overflow.
constexpr std::int64_t size_limit = std::int64_t{1} << 31;

result<std::vector<std::int64_t>> per_axis(const attribute_map& attributes, const char* name,
                                           std::size_t count, std::int64_t fallback,
                                           std::int64_t smallest) {
  auto values = attributes.integers(name);
  if (values.empty())
    values.assign(count, fallback);
  if (values.size() != count)
    return fail(errc::invalid_argument, "{}: expected {} values, got {}", name, count,
                values.size());
  for (const auto value : values)
    if (value < smallest || value >= size_limit)
      return fail(errc::invalid_argument, "{}: {} is out of range", name, value);
  return values;
}

// The attributes and sizes of every axis, outputs not yet known.
result<window> declared_window(const attribute_map& attributes, std::span<const std::int64_t> dims,
                               std::span<const std::int64_t> kernel_dims) {
  if (dims.size() < 3)
    return fail(errc::invalid_argument, "input: expected at least one spatial axis, got {}",
                to_string(dims));
  const auto axes = dims.size() - 2;
  std::vector<std::int64_t> kernel{kernel_dims.begin(), kernel_dims.end()};
  if (kernel.empty()) {
    auto declared = per_axis(attributes, "kernel_shape", axes, 0, 1);
    if (!declared)
      return propagate(declared);
    kernel = std::move(*declared);
  }
  if (kernel.size() != axes)
    return fail(errc::invalid_argument, "kernel: expected {} spatial axes, got {}", axes,
                kernel.size());
  const auto strides = per_axis(attributes, "strides", axes, 1, 1);
  if (!strides)
    return propagate(strides);
  const auto dilations = per_axis(attributes, "dilations", axes, 1, 1);
  if (!dilations)
    return propagate(dilations);
  const auto pads = per_axis(attributes, "pads", 2 * axes, 0, 0);
  if (!pads)
    return propagate(pads);
  window made(axes);
  for (std::size_t i = 0; i < axes; ++i) {
    if (kernel[i] < 1 || kernel[i] >= size_limit || dims[i + 2] >= size_limit)
      return fail(errc::invalid_argument, "spatial axis {}: a kernel of {} over an input of {}", i,
                  kernel[i], dims[i + 2]);
    made[i] = {.input = dims[i + 2],
               .output = 0,
               .kernel = kernel[i],
               .stride = (*strides)[i],
               .dilation = (*dilations)[i],
               .pad_begin = (*pads)[i],
               .pad_end = (*pads)[axes + i]};
  }
  return made;
}

void split_padding(window_axis& axis, std::int64_t total, bool more_at_end) {
  total = std::max<std::int64_t>(total, 0);
  axis.pad_begin = more_at_end ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

} // namespace

result<window> sliding_window(const attribute_map& attributes, std::span<const std::int64_t> dims,
                              std::span<const std::int64_t> kernel_dims) {
  auto made = declared_window(attributes, dims, kernel_dims);
  if (!made)
    return made;
  const auto auto_pad = attributes.text("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID" && !auto_pad.empty())
    return fail(errc::invalid_argument, "auto_pad: unknown value {}", auto_pad);
  const bool ceil_mode = attributes.integer("ceil_mode", 0) != 0;
  for (auto& axis : *made) {
    if (same) {
      axis.output = (axis.input + axis.stride - 1) / axis.stride;
      split_padding(axis, (axis.output - 1) * axis.stride + axis.span() - axis.input,
                    auto_pad == "SAME_UPPER");
      continue;
    }
    if (auto_pad == "VALID")
      axis.pad_begin = axis.pad_end = 0;
    const auto room = axis.input + axis.pad_begin + axis.pad_end - axis.span();
    if (room < 0)
      return fail(errc::invalid_argument,
                  "a window of {} does not fit an input of {} padded by {}+{}", axis.span(),
                  axis.input, axis.pad_begin, axis.pad_end);
    axis.output = room / axis.stride + 1;
    // A last partial window counts only if it starts within the input or the padding before it.
    if (ceil_mode && room % axis.stride != 0
        && axis.output * axis.stride < axis.input + axis.pad_begin)
      ++axis.output;
  }
  return made;
}

result<window> transposed_window(const attribute_map& attributes,
                                 std::span<const std::int64_t> dims,
                                 std::span<const std::int64_t> kernel_dims) {
  auto made = declared_window(attributes, dims, kernel_dims);
  if (!made)
    return made;
  const auto axes = made->size();
  const auto extra = per_axis(attributes, "output_padding", axes, 0, 0);
  if (!extra)
    return propagate(extra);
  const auto wanted = attributes.integers("output_shape");
  if (!wanted.empty() && wanted.size() != axes && wanted.size() != axes + 2)
    return fail(errc::invalid_argument, "output_shape: expected {} values, got {}", axes,
                wanted.size());
  const auto auto_pad = attributes.text("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  for (std::size_t i = 0; i < axes; ++i) {
    auto& axis = (*made)[i];
    const auto full = (axis.input - 1) * axis.stride + (*extra)[i] + axis.span();
    if (!wanted.empty() || same) {
      axis.output = wanted.empty() ? axis.input * axis.stride : wanted[wanted.size() - axes + i];
      split_padding(axis, full - axis.output, auto_pad == "SAME_UPPER");
    } else {
      if (auto_pad == "VALID")
        axis.pad_begin = axis.pad_end = 0;
      axis.output = full - axis.pad_begin - axis.pad_end;
    }
    if (axis.output < 1 || axis.output >= size_limit)
      return fail(errc::invalid_argument, "spatial axis {}: the output would have size {}", i,
                  axis.output);
  }
  return made;
}

} // namespace troupe
