// The maxima of regions of images, cut into bins at whole elements. ONNX: MaxRoiPool-22. A region
// is [image, x1, y1, x2, y2]; a bin with no element is 0.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/vision_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

namespace {

struct range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Bin `bin` of `bins` of the region from `first` to `last`, both included, within an axis.
range bin_of(double first, double last, std::int64_t bin, std::int64_t bins, std::int64_t size) {
  const double width = std::max(last - first + 1, 1.0) / static_cast<double>(bins);
  const auto inside = [&](double at) {
    return static_cast<std::int64_t>(std::clamp(at + first, 0.0, static_cast<double>(size)));
  };
  return {inside(std::floor(static_cast<double>(bin) * width)),
          inside(std::ceil(static_cast<double>(bin + 1) * width))};
}

struct region_pool {
  shape input;
  shape output;
  double scale = 1;

  template <class T>
  result<void> run(const T* x, const T* regions, T* y) const {
    for (std::int64_t region = 0; region < output[0]; ++region, regions += 5) {
      double corner[5];
      for (std::size_t i = 0; i < 5; ++i) {
        corner[i] = static_cast<double>(static_cast<computed<T>>(regions[i]));
        if (i > 0)
          corner[i] = std::round(corner[i] * scale);
        if (!(std::abs(corner[i]) < 0x1p40))
          return fail(errc::invalid_argument, "MaxRoiPool: finite regions expected, {} found",
                      corner[i]);
      }
      if (corner[0] < 0 || corner[0] >= static_cast<double>(input[0]))
        return fail(errc::invalid_argument, "MaxRoiPool: an image in [0, {}) expected, {} found",
                    input[0], corner[0]);
      const auto* image = x + static_cast<std::int64_t>(corner[0]) * input[1] * input[2] * input[3];
      for (std::int64_t channel = 0; channel < input[1]; ++channel)
        for (std::int64_t row = 0; row < output[2]; ++row)
          for (std::int64_t column = 0; column < output[3]; ++column)
            *y++ = maximum(image + channel * input[2] * input[3],
                           bin_of(corner[2], corner[4], row, output[2], input[2]),
                           bin_of(corner[1], corner[3], column, output[3], input[3]));
    }
    return {};
  }

  template <class T>
  T maximum(const T* plane, range rows, range columns) const {
    bool any = false;
    T best{};
    for (auto row = rows.begin; row < rows.end; ++row)
      for (auto column = columns.begin; column < columns.end; ++column) {
        const auto value = plane[row * input[3] + column];
        if (!any || static_cast<computed<T>>(value) > static_cast<computed<T>>(best))
          best = value;
        any = true;
      }
    return best;
  }
};

} // namespace

made_kernel make_max_roi_pool(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc;
  const auto& regions = spec.inputs[1].desc;
  const auto& output = spec.outputs[0].dims;
  if (data.dims.size() != 4 || output.size() != 4 || regions.dims != shape{output[0], 5}
      || regions.type != data.type)
    return decline("regions {} of {} in images {}", to_string(regions.dims),
                   to_string(regions.type), to_string(data.dims));
  const region_pool by{data.dims, output,
                       static_cast<double>(spec.attributes->real("spatial_scale", 1.0F))};
  return make_floating(data.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [by](const kernel_args& args) {
      return by.run(args.inputs[0].as<const element>(), args.inputs[1].as<const element>(),
                    args.outputs[0].as<element>());
    });
  });
}

} // namespace troupe::cpu
