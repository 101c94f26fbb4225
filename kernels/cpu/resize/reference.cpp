// Interpolation along any axes of tensors of any type, by the definition: an output element is the
// weighted sum of the product of its axes' taps. ONNX: Upsample-9, Resize-10, Resize-19. Integers
// are cut off as a cast does, within what the type holds.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/resize/resize.hpp"

#include <limits>

namespace troupe::cpu {

namespace {

template <class T>
T stored(double value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr auto low = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto high = static_cast<double>(std::numeric_limits<T>::max());
    if (value >= high)
      return std::numeric_limits<T>::max();
    return value <= low ? std::numeric_limits<T>::lowest() : static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<computed<T>>(value));
  }
}

struct resizing {
  tensor_desc output;
  shape from_strides;
  shape to_strides;
  std::vector<resize_axis> axes;
  float extrapolation = 0.0F;

  // Each axis sums over its taps what the axes behind it give.
  template <class T>
  double at(const T* from, const shape& place, std::size_t axis, std::int64_t offset) const {
    if (axis == axes.size())
      return static_cast<double>(static_cast<computed<T>>(from[offset]));
    const auto& along = axes[axis];
    double sum = 0;
    for (auto tap = place[axis] * along.taps; tap < (place[axis] + 1) * along.taps; ++tap) {
      const auto t = static_cast<std::size_t>(tap);
      if (along.weight[t] != 0.0F)
        sum += static_cast<double>(along.weight[t])
               * at(from, place, axis + 1, offset + along.from[t] * from_strides[axis]);
    }
    return sum;
  }

  // Nearest: one element, whatever its type.
  std::int64_t source(const shape& place) const {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      offset += axes[axis].from[static_cast<std::size_t>(place[axis])] * from_strides[axis];
    return offset;
  }

  bool is_outside(const shape& place) const {
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      if (!axes[axis].outside.empty() && axes[axis].outside[static_cast<std::size_t>(place[axis])])
        return true;
    return false;
  }

  template <class Use>
  void for_each_place(int threads, const Use& use) const {
    parallel_for(threads, output.elements(), 32, [&](std::int64_t begin, std::int64_t end) {
      shape place(output.dims.size(), 0);
      for (auto [axis, rest] = std::pair{place.size(), begin}; axis-- > 0;) {
        place[axis] = rest % output.dims[axis];
        rest /= output.dims[axis];
      }
      for (auto i = begin; i < end; ++i) {
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < place.size(); ++axis)
          offset += place[axis] * to_strides[axis];
        use(place, offset);
        for (std::size_t axis = place.size(); axis-- > 0;) {
          if (++place[axis] < output.dims[axis])
            break;
          place[axis] = 0;
        }
      }
    });
  }

  template <class T>
  void interpolate(const T* from, T* to, int threads) const {
    for_each_place(threads, [&](const shape& place, std::int64_t offset) {
      to[offset] = is_outside(place) ? stored<T>(static_cast<double>(extrapolation))
                                     : stored<T>(at(from, place, 0, 0));
    });
  }

  template <class Bits>
  void pick(const Bits* from, Bits* to, int threads) const {
    for_each_place(threads, [&](const shape& place, std::int64_t offset) { //
      to[offset] = from[source(place)];
    });
  }
};

// Runs `by` with its axes in place.
using resize_run = void (*)(const resizing& by, const kernel_args& args, int threads);

template <class T>
void interpolate(const resizing& by, const kernel_args& args, int threads) {
  by.interpolate(args.inputs[0].as<const T>(), args.outputs[0].as<T>(), threads);
}

template <class T>
void pick(const resizing& by, const kernel_args& args, int threads) {
  by.pick(args.inputs[0].as<const T>(), args.outputs[0].as<T>(), threads);
}

resize_run run_for(dtype type, const resize_rule& rule) {
  resize_run run = nullptr;
  if (rule.how == resize_rule::mode::nearest && !rule.crops())
    visit_bits(type, [&](auto tag) { run = pick<typename decltype(tag)::type>; });
  else
    visit_number(type, [&](auto tag) { run = interpolate<typename decltype(tag)::type>; });
  return run;
}

// Where the region of interest begins and ends along each axis; input 1, as [begins, ends].
tl::expected<std::vector<resize_extent>, std::string>
extents_of(const kernel_spec& spec, std::span<const float> scales, std::span<const float> roi) {
  const auto rank = spec.inputs[0].desc.dims.size();
  std::vector<resize_extent> extents(rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    extents[axis] = {.from = spec.inputs[0].desc.dims[axis],
                     .to = spec.outputs[0].dims[axis],
                     .scale = scales[axis]};
  auto axes = spec.attributes->integers("axes");
  if (axes.empty())
    for (std::size_t axis = 0; axis < rank; ++axis)
      axes.push_back(static_cast<std::int64_t>(axis));
  if (!roi.empty() && roi.size() != 2 * axes.size())
    return decline("a region of interest of {} numbers for {} axes", roi.size(), axes.size());
  for (std::size_t i = 0; i < axes.size() && !roi.empty(); ++i)
    if (const auto axis = axis_index(axes[i], rank)) {
      extents[*axis].roi_begin = roi[i];
      extents[*axis].roi_end = roi[i + axes.size()];
    }
  return extents;
}

tl::expected<std::vector<float>, std::string> constant_roi(const kernel_spec& spec) {
  if (!has_input(spec, 1) || spec.inputs[1].desc.elements() == 0)
    return decline("a region of interest is missing");
  const auto& given = spec.inputs[1].constant;
  if (!given || given->type != dtype::float32)
    return decline("the region of interest is no FP32 initializer");
  const auto listed = elements_of<float>(given->data);
  return std::vector<float>{listed.begin(), listed.end()};
}

} // namespace

made_kernel make_reference_resize(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_strided(spec))
    return decline("{}", *why);
  const auto rule = resize_rule_of(spec);
  if (!rule)
    return tl::unexpected{rule.error()};
  const auto scales = constant_scales(spec);
  if (!scales)
    return tl::unexpected{scales.error()};
  const auto& from = spec.inputs[0].desc;
  const auto run = run_for(from.type, *rule);
  if (run == nullptr)
    return decline("datatype {} is not supported", to_string(from.type));
  if (from.elements() == 0 && spec.outputs[0].elements() != 0)
    return decline("an empty input has nothing to resize");
  resizing by{
      spec.outputs[0], strides_of(from), strides_of(spec.outputs[0]), {}, rule->extrapolation};
  if (!scales->empty() || from.dims.empty()) {
    std::vector<float> roi;
    if (rule->crops()) {
      auto given = constant_roi(spec);
      if (!given)
        return tl::unexpected{given.error()};
      roi = *std::move(given);
    }
    const auto extents = extents_of(spec, *scales, roi);
    if (!extents)
      return tl::unexpected{extents.error()};
    for (const auto& extent : *extents)
      by.axes.push_back(resize_axis_of(*rule, extent));
    return make_kernel({}, [by = std::move(by), run, threads = spec.threads](
                               const kernel_args& args) { run(by, args, threads); });
  }
  const std::size_t scales_at = rule->simple ? 1 : 2;
  if (rule->crops() || !spec.attributes->integers("axes").empty()
      || spec.inputs[scales_at].desc.type != dtype::float32
      || spec.inputs[scales_at].desc.elements() != static_cast<std::int64_t>(from.dims.size()))
    return decline("scales of some axes only, or of a crop, are not an initializer");
  return make_kernel({}, [by = std::move(by), rule = *rule, run, scales_at, dims = from.dims,
                          threads = spec.threads](const kernel_args& args) {
    auto now = by;
    const auto* scale = args.inputs[scales_at].as<const float>();
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      now.axes.push_back(resize_axis_of(rule, dims[axis], by.output.dims[axis], scale[axis]));
    run(now, args, threads);
  });
}

} // namespace troupe::cpu
