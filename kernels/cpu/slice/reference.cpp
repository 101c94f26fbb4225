// Slice: bounds are attributes before opset 10 and inputs since. ONNX: Slice-1, Slice-13.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"
#include "kernels/cpu/strided_copy.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

struct bounds {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
};

struct cut {
  strided_box box;
  std::size_t offset_bytes = 0;
};

result<cut> cut_of(const tensor_desc& from, const tensor_desc& to, bounds by) {
  const auto rank = from.dims.size();
  if (by.axes.empty())
    for (std::size_t axis = 0; axis < by.starts.size(); ++axis)
      by.axes.push_back(static_cast<std::int64_t>(axis));
  if (by.steps.empty())
    by.steps.assign(by.starts.size(), 1);
  if (by.ends.size() != by.starts.size() || by.axes.size() != by.starts.size()
      || by.steps.size() != by.starts.size())
    return fail(errc::invalid_argument, "Slice: starts, ends, axes and steps differ in length");
  cut made;
  made.box.dims = from.dims;
  made.box.from_strides = row_major_strides(from.dims);
  made.box.element_bytes = size_of(from.type);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < by.axes.size(); ++i) {
    const auto axis = axis_index(by.axes[i], rank);
    const auto step = by.steps[i];
    if (!axis || step == 0)
      return fail(errc::invalid_argument, "Slice: axis {} with step {} does not fit rank {}",
                  by.axes[i], step, rank);
    const auto size = from.dims[*axis];
    const auto wrap = [size](std::int64_t at) { return at < 0 ? at + size : at; };
    // A negative step may end before the first element, which is position -1.
    const auto low = step > 0 ? std::int64_t{0} : std::int64_t{-1};
    const auto high = step > 0 ? size : size - 1;
    const auto start = std::clamp(wrap(by.starts[i]), std::min<std::int64_t>(0, high), high);
    const auto end = std::clamp(wrap(by.ends[i]), low, std::max(low, high));
    const auto span = step > 0 ? end - start : start - end;
    const auto stride = step > 0 ? step : -step;
    made.box.dims[*axis] = span > 0 ? (span + stride - 1) / stride : 0;
    offset += start * made.box.from_strides[*axis];
    made.box.from_strides[*axis] *= step;
  }
  if (made.box.dims != to.dims)
    return fail(errc::invalid_argument, "Slice: the bounds give {}, the plan expects {}",
                to_string(made.box.dims), to_string(to.dims));
  made.box.to_strides = row_major_strides(made.box.dims);
  made.box = simplified(made.box);
  made.offset_bytes =
      to.elements() == 0 ? 0 : static_cast<std::size_t>(offset) * size_of(from.type);
  return made;
}

void apply(const cut& cutting, const kernel_args& args) {
  cutting.box.copy(args.inputs[0].data + cutting.offset_bytes, args.outputs[0].data);
}

result<bounds> bounds_in(const kernel_args& args) {
  bounds by;
  std::vector<std::int64_t>* lists[] = {&by.starts, &by.ends, &by.axes, &by.steps};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!has_data(args, i + 1))
      continue;
    auto values = integers_in(args.inputs[i + 1], "Slice");
    if (!values)
      return propagate(values);
    *lists[i] = *std::move(values);
  }
  return by;
}

} // namespace

made_kernel make_reference_slice(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (spec.inputs[0].desc.type == dtype::string)
    return decline("strings are not moved by kernels");
  bounds by;
  bool known = true;
  if (spec.version < 10) {
    by = {spec.attributes->integers("starts"),
          spec.attributes->integers("ends"),
          spec.attributes->integers("axes"),
          {}};
  } else {
    std::vector<std::int64_t>* lists[] = {&by.starts, &by.ends, &by.axes, &by.steps};
    for (std::size_t i = 0; i < 4; ++i) {
      const auto constant = constant_integers(spec, i + 1);
      known = known && (constant || !has_input(spec, i + 1));
      if (constant)
        *lists[i] = *constant;
    }
  }
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (!known)
    return make_kernel({}, [from, to](const kernel_args& args) -> result<void> {
      auto found = bounds_in(args);
      if (!found)
        return propagate(found);
      const auto cutting = cut_of(from, to, *std::move(found));
      if (!cutting)
        return propagate(cutting);
      apply(*cutting, args);
      return {};
    });
  auto cutting = cut_of(from, to, std::move(by));
  if (!cutting)
    return decline("{}", cutting.error().text);
  return make_kernel({}, [cutting = *cutting](const kernel_args& args) { apply(cutting, args); });
}

} // namespace troupe::cpu
