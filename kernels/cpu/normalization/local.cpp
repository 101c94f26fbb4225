// Normalisations without parameters. ONNX: LRN-13, MeanVarianceNormalization-13,
// LpNormalization-22.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace troupe::cpu {

made_kernel make_reference_lrn(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_floating(spec))
    return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  const auto size = spec.attributes->integer("size", 0);
  if (dims.size() < 2 || size < 1)
    return decline("channels at axis 1 and a size of 1 or more expected, {} and {} found",
                   to_string(dims), size);
  const auto alpha = static_cast<double>(spec.attributes->real("alpha", 1e-4F));
  const auto beta = static_cast<double>(spec.attributes->real("beta", 0.75F));
  const auto bias = static_cast<double>(spec.attributes->real("bias", 1.0F));
  const auto places = element_count({dims.data() + 2, dims.size() - 2});
  return make_kernel({}, [=, images = dims[0], channels = dims[1]](const kernel_args& args) {
    const auto x = input_numbers(args, 0);
    const auto y = output_numbers(args, 0);
    for (std::int64_t image = 0; image < images; ++image)
      for (std::int64_t c = 0; c < channels; ++c) {
        const auto first = std::max<std::int64_t>(0, c - (size - 1) / 2);
        const auto last = std::min(channels - 1, c + size / 2);
        for (std::int64_t place = 0; place < places; ++place) {
          double squares = 0;
          for (auto other = first; other <= last; ++other) {
            const double value = x[(image * channels + other) * places + place];
            squares += value * value;
          }
          const auto at = (image * channels + c) * places + place;
          y.set(at, x[at] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta));
        }
      }
  });
}

made_kernel make_reference_lp_normalization(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_floating(spec))
    return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  const auto axis = axis_index(spec.attributes->integer("axis", -1), dims.size());
  const auto p = spec.attributes->integer("p", 2);
  if (!axis || (p != 1 && p != 2))
    return decline("an axis of {} and p of 1 or 2 expected, {} and {} found", to_string(dims),
                   spec.attributes->integer("axis", -1), p);
  const auto outer = element_count({dims.data(), *axis});
  const auto stride = element_count({dims.data() + *axis + 1, dims.size() - *axis - 1});
  return make_kernel({.overwrites = 1}, [=, width = dims[*axis]](const kernel_args& args) {
    const auto x = input_numbers(args, 0);
    const auto y = output_numbers(args, 0);
    for (std::int64_t row = 0; row < outer * stride; ++row) {
      const auto start = row / stride * width * stride + row % stride;
      double total = 0;
      for (std::int64_t i = 0; i < width; ++i)
        total += p == 1 ? std::abs(x[start + i * stride])
                        : x[start + i * stride] * x[start + i * stride];
      const double norm = p == 1 ? total : std::sqrt(total);
      for (std::int64_t i = 0; i < width; ++i)
        y.set(start + i * stride, norm == 0 ? 0.0 : x[start + i * stride] / norm);
    }
  });
}

made_kernel make_reference_mean_variance_normalization(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_floating(spec))
    return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  auto axes = spec.attributes->integers("axes");
  if (axes.empty())
    axes = {0, 2, 3};
  std::vector<bool> reduced(dims.size(), false);
  for (const auto axis : axes) {
    const auto index = axis_index(axis, dims.size());
    if (!index)
      return decline("axis {} is out of range for rank {}", axis, dims.size());
    reduced[*index] = true;
  }
  const auto strides = row_major_strides(dims);
  iteration kept{{}, {{}}};
  iteration lost{{}, {{}}};
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    auto& loops = reduced[axis] ? lost : kept;
    loops.dims.push_back(dims[axis]);
    loops.strides[0].push_back(strides[axis]);
  }
  for (auto* loops : {&kept, &lost}) { // for_each_row wants an innermost loop
    loops->dims.push_back(1);
    loops->strides[0].push_back(0);
  }
  return make_kernel({.overwrites = 1}, [kept, lost](const kernel_args& args) {
    const auto x = input_numbers(args, 0);
    const auto y = output_numbers(args, 0);
    for_each_row(kept, 0, kept.outer(), [&](std::int64_t, auto start) {
      const auto each = [&](const auto& use) {
        for_each_row(lost, 0, lost.outer(),
                     [&](std::int64_t, auto offset) { use(start[0] + offset[0]); });
      };
      const auto count = static_cast<double>(lost.outer());
      double mean = 0;
      each([&](std::int64_t at) { mean += x[at] / count; });
      double variance = 0;
      each([&](std::int64_t at) { variance += (x[at] - mean) * (x[at] - mean) / count; });
      const double deviation = std::sqrt(variance) + 1e-9; // as the operator's definition has it
      each([&](std::int64_t at) { y.set(at, (x[at] - mean) / deviation); });
    });
  });
}

} // namespace troupe::cpu
