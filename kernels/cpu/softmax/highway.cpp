// Softmax over contiguous rows, a team member a range of rows.

#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/rows/rows.hpp"
#include "kernels/cpu/softmax/softmax.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

made_kernel make_highway_softmax(const kernel_spec& spec, weight_cache&) {
  if (spec.op_type != "Softmax")
    return decline("{} has no vectorised form", spec.op_type);
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  auto rows = softmax_rows_of(spec);
  if (!rows)
    return tl::unexpected{std::move(rows).error()};
  if (rows->stride != 1)
    return decline("the axis is not the last one");
  return make_kernel({.name = "highway", .overwrites = 1}, [rows = *rows, threads = spec.threads](
                                                               const kernel_args& args) {
    const auto* x = args.inputs[0].as<const float>();
    auto* y = args.outputs[0].as<float>();
    parallel_for(threads, rows.outer, rows.width * 8, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row)
        softmax_row(x + row * rows.width, y + row * rows.width,
                    static_cast<std::size_t>(rows.width));
    });
  });
}

} // namespace troupe::cpu
