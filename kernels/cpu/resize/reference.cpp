// Nearest and linear interpolation along any axes. ONNX: Upsample-9, Resize-10, Resize-19.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/resize/resize.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

namespace {

struct resizing {
  tensor_desc output;
  shape from_strides;
  shape to_strides;
  std::vector<resize_axis> axes;
  bool linear = false;

  // The corners around a position: each resized axis doubles them.
  float at(const float* from, const shape& place, std::size_t axis, std::int64_t offset) const {
    if (axis == axes.size())
      return from[offset];
    const auto i = static_cast<std::size_t>(place[axis]);
    const auto& along = axes[axis];
    const float low = at(from, place, axis + 1, offset + along.low[i] * from_strides[axis]);
    if (!linear || along.weight[i] == 0.0F)
      return low;
    const float high = at(from, place, axis + 1, offset + along.high[i] * from_strides[axis]);
    return low + along.weight[i] * (high - low);
  }

  void run(const float* from, float* to) const {
    shape place(output.dims.size(), 0);
    for (auto left = output.elements(); left > 0; --left) {
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < place.size(); ++axis)
        offset += place[axis] * to_strides[axis];
      to[offset] = at(from, place, 0, 0);
      for (std::size_t axis = place.size(); axis-- > 0;) {
        if (++place[axis] < output.dims[axis])
          break;
        place[axis] = 0;
      }
    }
  }
};

} // namespace

made_kernel make_reference_resize(const kernel_spec& spec, weight_cache&) {
  if (spec.inputs[0].desc.type != dtype::float32)
    return decline("datatype {} is not supported", to_string(spec.inputs[0].desc.type));
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  const auto rule = resize_rule_of(spec);
  if (!rule)
    return tl::unexpected{rule.error()};
  const auto scales = constant_scales(spec);
  if (!scales)
    return tl::unexpected{scales.error()};
  const auto& from = spec.inputs[0].desc;
  if (from.elements() == 0 && spec.outputs[0].elements() != 0)
    return decline("an empty input has nothing to resize");
  resizing by{spec.outputs[0], strides_of(from), strides_of(spec.outputs[0]), {}, rule->linear};
  const auto fill_axes = [from, rule = *rule](resizing& into, std::span<const float> scale) {
    for (std::size_t axis = 0; axis < scale.size(); ++axis)
      into.axes.push_back(
          resize_axis_of(rule, from.dims[axis], into.output.dims[axis], scale[axis]));
  };
  if (!scales->empty() || from.dims.empty()) {
    fill_axes(by, *scales);
    return make_kernel({}, [by = std::move(by)](const kernel_args& args) {
      by.run(args.inputs[0].as<const float>(), args.outputs[0].as<float>());
    });
  }
  const std::size_t scales_at = rule->simple ? 1 : 2;
  if (!spec.attributes->integers("axes").empty()
      || spec.inputs[scales_at].desc.elements() != static_cast<std::int64_t>(from.dims.size()))
    return decline("scales of some axes only are not an initializer");
  return make_kernel({}, [by = std::move(by), fill_axes, scales_at](const kernel_args& args) {
    auto now = by;
    const auto* scale = args.inputs[scales_at].as<const float>();
    fill_axes(now, {scale, by.output.dims.size()});
    now.run(args.inputs[0].as<const float>(), args.outputs[0].as<float>());
  });
}

} // namespace troupe::cpu
