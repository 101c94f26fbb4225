// Nearest-neighbour Resize of images: rows of the output are copies of rows of the input, spread by
// a table of columns. Works in both strided layouts.

#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/resize/resize.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cstring>

namespace troupe::cpu {

namespace {

// Images as [planes, rows, columns, run]: a run is what moves as one, all channels of a position in
// channels-last layout, else a single element.
struct enlarging {
  std::int64_t planes = 1;
  std::int64_t rows_in = 1, rows_out = 1;
  std::int64_t columns_in = 1, columns_out = 1;
  std::int64_t run = 1;
  std::vector<std::int64_t> row_of;
  std::vector<std::int64_t> column_of;

  void fill_row(const float* from, float* to) const {
    if (run == 1) {
      for (std::int64_t column = 0; column < columns_out; ++column)
        to[column] = from[column_of[static_cast<std::size_t>(column)]];
      return;
    }
    const auto bytes = static_cast<std::size_t>(run) * sizeof(float);
    for (std::int64_t column = 0; column < columns_out; ++column)
      std::memcpy(to + column * run, from + column_of[static_cast<std::size_t>(column)] * run,
                  bytes);
  }

  void run_rows(const float* x, float* y, std::int64_t begin, std::int64_t end) const {
    for (auto at = begin; at < end; ++at) {
      const auto plane = at / rows_out;
      const auto row = static_cast<std::size_t>(at % rows_out);
      float* to = y + at * columns_out * run;
      if (at > begin && row > 0 && row_of[row] == row_of[row - 1]) {
        std::memcpy(to, to - columns_out * run,
                    static_cast<std::size_t>(columns_out * run) * sizeof(float));
        continue;
      }
      fill_row(x + (plane * rows_in + row_of[row]) * columns_in * run, to);
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
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.dims.size() != 4 || from.format != to.format || from.elements() == 0)
    return decline("expected images of four axes in one layout, found {}", to_string(from.dims));
  const auto scales = constant_scales(spec);
  if (!scales)
    return tl::unexpected{scales.error()};
  if (scales->empty())
    return decline("the scales are not an initializer");
  if (from.dims[0] != to.dims[0] || from.dims[1] != to.dims[1])
    return decline("images or channels are resized too");
  const bool last = from.format == layout::channels_last;
  enlarging by{from.dims[0] * (last ? 1 : from.dims[1]),
               from.dims[2],
               to.dims[2],
               from.dims[3],
               to.dims[3],
               last ? from.dims[1] : 1,
               resize_axis_of(*rule, from.dims[2], to.dims[2], (*scales)[2]).from,
               resize_axis_of(*rule, from.dims[3], to.dims[3], (*scales)[3]).from};
  return make_kernel(
      {.name = "nearest"}, [by = std::move(by), threads = spec.threads](const kernel_args& args) {
        const auto* x = args.inputs[0].as<const float>();
        auto* y = args.outputs[0].as<float>();
        parallel_for(threads, by.planes * by.rows_out, by.columns_out * by.run,
                     [&](std::int64_t begin, std::int64_t end) { by.run_rows(x, y, begin, end); });
      });
}

} // namespace troupe::cpu
