// Pools regions of images into one size, by samples between the elements. ONNX: RoiAlign-10,
// RoiAlign-22. The maximum is over the four weighted neighbours of each sample, as the operator's
// reference has it.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vision_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::cpu {

namespace {

struct alignment {
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t rows_in = 0, columns_in = 0;
  std::int64_t rows_out = 1, columns_out = 1;
  std::int64_t regions = 0;
  std::int64_t sampling = 0; ///< along each axis of a bin; 0: as many as elements
  double scale = 1;
  bool half_pixel = true;
  bool maximum = false;
};

// Along one axis: where bins begin, and how many samples each has.
struct bins {
  double begin = 0;
  double width = 0;
  std::int64_t samples = 1;

  double sample(std::int64_t bin, std::int64_t index) const {
    return begin
           + width
                 * (static_cast<double>(bin)
                    + (static_cast<double>(index) + 0.5) / static_cast<double>(samples));
  }
};

constexpr double most_samples = 4096; // more than a side of an image worth pooling

result<bins> bins_of(const alignment& by, double begin, double end, std::int64_t count) {
  const double offset = by.half_pixel ? 0.5 : 0.0;
  begin = begin * by.scale - offset;
  double width = end * by.scale - offset - begin;
  if (!by.half_pixel)
    width = std::max(width, 1.0);
  width /= static_cast<double>(count);
  const double wanted = by.sampling > 0 ? static_cast<double>(by.sampling) : std::ceil(width);
  if (!(std::abs(begin) < 0x1p40) || !(wanted <= most_samples))
    return fail(errc::invalid_argument,
                "RoiAlign: regions of at most {} samples a bin expected, {} found", most_samples,
                wanted);
  return bins{begin, width, static_cast<std::int64_t>(std::max(wanted, 0.0))};
}

// The two elements around a position and the weight of the second; nothing outside.
struct neighbours {
  std::int64_t low = 0, high = 0;
  double weight = 0;
  bool any = false;
};

neighbours around(double x, std::int64_t size) {
  if (x < -1.0 || x > static_cast<double>(size))
    return {};
  x = std::max(x, 0.0);
  const auto low = std::min(static_cast<std::int64_t>(x), size - 1);
  if (low == size - 1)
    return {low, low, 0, true};
  return {low, low + 1, x - static_cast<double>(low), true};
}

template <class T>
double pooled(const alignment& by, const bins& down, const bins& across, const T* x,
              std::int64_t row, std::int64_t column) {
  double sum = 0;
  double best = 0;
  bool any = false;
  const auto value = [&](std::int64_t at_row, std::int64_t at_column) {
    return static_cast<double>(static_cast<computed<T>>(x[at_row * by.columns_in + at_column]));
  };
  for (std::int64_t i = 0; i < down.samples; ++i) {
    const auto y = around(down.sample(row, i), by.rows_in);
    for (std::int64_t j = 0; j < across.samples; ++j) {
      const auto z = around(across.sample(column, j), by.columns_in);
      std::array<double, 4> parts{};
      if (y.any && z.any)
        parts = {(1 - y.weight) * (1 - z.weight) * value(y.low, z.low),
                 (1 - y.weight) * z.weight * value(y.low, z.high),
                 y.weight * (1 - z.weight) * value(y.high, z.low),
                 y.weight * z.weight * value(y.high, z.high)};
      sum += parts[0] + parts[1] + parts[2] + parts[3];
      const auto most = *std::ranges::max_element(parts);
      best = any ? std::max(best, most) : most;
      any = true;
    }
  }
  const auto count = std::max<std::int64_t>(down.samples * across.samples, 1);
  return by.maximum ? best : sum / static_cast<double>(count);
}

template <class T>
result<void> run_region(const alignment& by, const T* x, const T* corners, std::int64_t image,
                        T* y) {
  const auto corner = [&](std::size_t i) {
    return static_cast<double>(static_cast<computed<T>>(corners[i]));
  };
  const auto across = bins_of(by, corner(0), corner(2), by.columns_out);
  const auto down = bins_of(by, corner(1), corner(3), by.rows_out);
  if (!across || !down)
    return propagate(across ? down : across);
  x += image * by.channels * by.rows_in * by.columns_in;
  for (std::int64_t channel = 0; channel < by.channels; ++channel) {
    for (std::int64_t row = 0; row < by.rows_out; ++row)
      for (std::int64_t column = 0; column < by.columns_out; ++column)
        *y++ = static_cast<T>(static_cast<computed<T>>(pooled(by, *down, *across, x, row, column)));
    x += by.rows_in * by.columns_in;
  }
  return {};
}

} // namespace

made_kernel make_roi_align(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& data = spec.inputs[0].desc;
  const auto& regions = spec.inputs[1].desc;
  const auto& images = spec.inputs[2].desc;
  const auto& output = spec.outputs[0].dims;
  if (data.dims.size() != 4 || output.size() != 4 || regions.dims != shape{output[0], 4}
      || images.dims != shape{output[0]} || images.type != dtype::int64 || regions.type != data.type
      || (data.elements() == 0 && spec.outputs[0].elements() != 0))
    return decline("regions {} of {} in images {}", to_string(regions.dims),
                   to_string(regions.type), to_string(data.dims));
  const auto mode = spec.attributes->text("mode", "avg");
  const auto coordinates = spec.attributes->text(
      "coordinate_transformation_mode", spec.version < 16 ? "output_half_pixel" : "half_pixel");
  if ((mode != "avg" && mode != "max")
      || (coordinates != "half_pixel" && coordinates != "output_half_pixel"))
    return decline("mode '{}' with coordinates '{}'", mode, coordinates);
  const alignment by{.images = data.dims[0],
                     .channels = data.dims[1],
                     .rows_in = data.dims[2],
                     .columns_in = data.dims[3],
                     .rows_out = output[2],
                     .columns_out = output[3],
                     .regions = output[0],
                     .sampling = spec.attributes->integer("sampling_ratio", 0),
                     .scale = static_cast<double>(spec.attributes->real("spatial_scale", 1.0F)),
                     .half_pixel = coordinates == "half_pixel",
                     .maximum = mode == "max"};
  return make_floating(data.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [by](const kernel_args& args) -> result<void> {
      const auto* image = args.inputs[2].as<const std::int64_t>();
      for (std::int64_t region = 0; region < by.regions; ++region) {
        if (image[region] < 0 || image[region] >= by.images)
          return fail(errc::invalid_argument, "RoiAlign: an image in [0, {}) expected, {} found",
                      by.images, image[region]);
        auto done = run_region(by, args.inputs[0].as<const element>(),
                               args.inputs[1].as<const element>() + region * 4, image[region],
                               args.outputs[0].as<element>()
                                   + region * by.channels * by.rows_out * by.columns_out);
        if (!done)
          return done;
      }
      return {};
    });
  });
}

} // namespace troupe::cpu
