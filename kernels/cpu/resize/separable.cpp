// Interpolation of images along their rows and columns, one after the other: the input rows that
// make an output row are summed first, then the columns of that sum. Works in both strided layouts;
// any mode.

#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/resize/images.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

struct interpolation : resized_images {
  std::int64_t parts = 1; ///< that run at once, each with a row of its own

  [[nodiscard]] std::int64_t row_elements() const noexcept { return columns_in * run; }

  // `sum` = the input rows of an output row, weighted.
  void sum_rows(const float* plane, std::int64_t row, float* sum) const {
    const auto width = row_elements();
    for (std::int64_t tap = 0; tap < down.taps; ++tap) {
      const auto t = static_cast<std::size_t>(row * down.taps + tap);
      const float* from = plane + down.from[t] * width;
      const float weight = down.weight[t];
      if (tap == 0)
        for (std::int64_t i = 0; i < width; ++i)
          sum[i] = weight * from[i];
      else if (weight != 0.0F)
        for (std::int64_t i = 0; i < width; ++i)
          sum[i] += weight * from[i];
    }
  }

  void fill_row(const float* sum, float* to) const {
    const auto* from = across.from.data();
    const auto* weight = across.weight.data();
    if (run == 1 && across.taps == 2) {
      for (std::int64_t column = 0; column < columns_out; ++column, from += 2, weight += 2)
        to[column] = weight[0] * sum[from[0]] + weight[1] * sum[from[1]];
      return;
    }
    for (std::int64_t column = 0; column < columns_out; ++column, to += run) {
      if (run == 1) {
        float value = 0.0F;
        for (std::int64_t tap = 0; tap < across.taps; ++tap)
          value += weight[tap] * sum[from[tap]];
        *to = value;
      } else {
        std::fill_n(to, run, 0.0F);
        for (std::int64_t tap = 0; tap < across.taps; ++tap) {
          const float* source = sum + from[tap] * run;
          for (std::int64_t i = 0; i < run; ++i)
            to[i] += weight[tap] * source[i];
        }
      }
      from += across.taps;
      weight += across.taps;
    }
  }

  void run_rows(const float* x, float* y, float* sum, std::int64_t begin, std::int64_t end) const {
    for (auto at = begin; at < end; ++at) {
      sum_rows(x + at / rows_out * rows_in * row_elements(), at % rows_out, sum);
      fill_row(sum, y + at * columns_out * run);
    }
  }
};

} // namespace

made_kernel make_separable_resize(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec, 1))
    return decline("{}", *why);
  const auto rule = resize_rule_of(spec);
  if (!rule)
    return tl::unexpected{rule.error()};
  if (rule->crops())
    return decline("the mode crops");
  auto images = resized_images_of(spec, *rule);
  if (!images)
    return tl::unexpected{images.error()};
  interpolation by{*std::move(images)};
  const auto rows = by.planes * by.rows_out;
  by.parts = std::max<std::int64_t>(std::min<std::int64_t>(spec.threads, rows), 1);
  const auto cost = rows * by.row_elements() * by.down.taps / by.parts
                    + rows * by.columns_out * by.run * by.across.taps / by.parts;
  return make_kernel(
      {.name = "separable",
       .workspace_bytes = static_cast<std::size_t>(by.parts * by.row_elements()) * sizeof(float)},
      [by = std::move(by), rows, cost, threads = spec.threads](const kernel_args& args) {
        auto* sums = reinterpret_cast<float*>(args.workspace.data());
        parallel_for(threads, by.parts, cost, [&](std::int64_t begin, std::int64_t end) {
          for (auto part = begin; part < end; ++part)
            by.run_rows(args.inputs[0].as<const float>(), args.outputs[0].as<float>(),
                        sums + part * by.row_elements(), rows * part / by.parts,
                        rows * (part + 1) / by.parts);
        });
      });
}

} // namespace troupe::cpu
