// Nearest-neighbour Resize of images: rows of the output are copies of rows of the input, spread by
// a table of columns. Works in both strided layouts.

#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/resize/images.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cstring>

namespace troupe::cpu {

namespace {

struct enlarging : resized_images {
  void fill_row(const float* from, float* to) const {
    if (run == 1) {
      for (std::int64_t column = 0; column < columns_out; ++column)
        to[column] = from[across.from[static_cast<std::size_t>(column)]];
      return;
    }
    const auto bytes = static_cast<std::size_t>(run) * sizeof(float);
    for (std::int64_t column = 0; column < columns_out; ++column)
      std::memcpy(to + column * run, from + across.from[static_cast<std::size_t>(column)] * run,
                  bytes);
  }

  void run_rows(const float* x, float* y, std::int64_t begin, std::int64_t end) const {
    for (auto at = begin; at < end; ++at) {
      const auto plane = at / rows_out;
      const auto row = static_cast<std::size_t>(at % rows_out);
      float* to = y + at * columns_out * run;
      if (at > begin && row > 0 && down.from[row] == down.from[row - 1]) {
        std::memcpy(to, to - columns_out * run,
                    static_cast<std::size_t>(columns_out * run) * sizeof(float));
        continue;
      }
      fill_row(x + (plane * rows_in + down.from[row]) * columns_in * run, to);
    }
  }
};

} // namespace

made_kernel make_nearest_resize(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_plain_float(spec, 1))
    return decline("{}", *why);
  const auto rule = resize_rule_of(spec);
  if (!rule)
    return tl::unexpected{rule.error()};
  if (rule->how != resize_rule::mode::nearest || rule->crops())
    return decline("the mode is not nearest, or crops");
  auto images = resized_images_of(spec, *rule);
  if (!images)
    return tl::unexpected{images.error()};
  enlarging by{*std::move(images)};
  return make_kernel(
      {.name = "nearest"}, [by = std::move(by), threads = spec.threads](const kernel_args& args) {
        const auto* x = args.inputs[0].as<const float>();
        auto* y = args.outputs[0].as<float>();
        parallel_for(threads, by.planes * by.rows_out, by.columns_out * by.run,
                     [&](std::int64_t begin, std::int64_t end) { by.run_rows(x, y, begin, end); });
      });
}

} // namespace troupe::cpu
