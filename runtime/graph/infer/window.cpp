#include "runtime/graph/infer/window.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

constexpr std::int64_t largest = 1 << 28; // of kernels, strides, pads: products stay in range

result<std::vector<std::int64_t>> axis_values(const inference& at, const char* name,
                                              std::size_t count, std::int64_t fallback,
                                              std::int64_t least) {
  auto values = at.attributes().integers(name);
  if (values.empty())
    values.assign(count, fallback);
  if (values.size() != count)
    return fail(errc::invalid_argument, "{} with {} values expected, {} found", name, count,
                to_string(values));
  if (std::ranges::any_of(values, [&](auto value) { return value < least || value > largest; }))
    return fail(errc::invalid_argument, "{} in [{}, {}] expected, {} found", name, least, largest,
                to_string(values));
  return values;
}

} // namespace

result<window> read_window(const inference& at, std::vector<std::int64_t> kernel) {
  window read;
  read.kernel = std::move(kernel);
  const auto axes = read.kernel.size();
  if (std::ranges::any_of(read.kernel, [](auto size) { return size < 1 || size > largest; }))
    return fail(errc::invalid_argument, "kernel sizes in [1, {}] expected, {} found", largest,
                to_string(read.kernel));
  auto strides = axis_values(at, "strides", axes, 1, 1);
  auto dilations = axis_values(at, "dilations", axes, 1, 1);
  auto pads = axis_values(at, "pads", 2 * axes, 0, 0);
  for (auto* checked : {&strides, &dilations, &pads})
    if (!*checked)
      return propagate(*checked);
  read.strides = std::move(*strides);
  read.dilations = std::move(*dilations);
  read.pads = std::move(*pads);
  read.ceil = at.attributes().integer("ceil_mode", 0) != 0;
  read.auto_pad = at.attributes().text("auto_pad", "NOTSET");
  constexpr std::array<std::string_view, 4> modes{"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  if (std::ranges::find(modes, read.auto_pad) == modes.end())
    return fail(errc::invalid_argument,
                "auto_pad NOTSET, SAME_UPPER, SAME_LOWER or VALID expected, '{}' found",
                read.auto_pad);
  return read;
}

result<dim> positions(const window& over, std::size_t axis, dim in, graph& symbols) {
  const auto stride = over.strides[axis];
  if (over.auto_pad.starts_with("SAME"))
    return floor_affine(in, 1, stride - 1, stride, symbols);
  const auto extent = (over.kernel[axis] - 1) * over.dilations[axis] + 1;
  const bool explicit_pads = over.auto_pad == "NOTSET";
  const auto begin = explicit_pads ? over.pads[axis] : 0;
  const auto end = explicit_pads ? over.pads[axis + over.kernel.size()] : 0;
  const auto slack = begin + end - extent;
  if (in.known() && in.size() + slack < 0)
    return fail(errc::invalid_argument,
                "a spatial size of at least {} expected in axis {}, {} found", extent - begin - end,
                axis + 2, in.size());
  auto out = floor_affine(in, 1, slack + stride + (over.ceil ? stride - 1 : 0), stride, symbols);
  if (out && in.known() && over.ceil && (out->size() - 1) * stride >= in.size() + begin)
    return dim{out->size() - 1};
  return out;
}

} // namespace troupe::graph
