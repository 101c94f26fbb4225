// Sum and mean over neighbouring axes, GlobalAveragePool among them: rows to one value each where
// the reduced axes are the innermost, whole rows onto one another where they are not.

#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reduce/reduce.hpp"
#include "kernels/cpu/rows/fold_rows.hpp"
#include "kernels/cpu/rows/rows.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>

namespace troupe::cpu {

namespace {

// x [outer, width, inner] to y [outer, inner].
struct folding {
  std::int64_t outer = 1;
  std::int64_t width = 1;
  std::int64_t inner = 1;
  float factor = 1.0F;

  // Inner elements that one work item adds up: all of them, unless the team would stand idle.
  std::int64_t chunk(int threads) const {
    if (outer >= threads || inner == 1)
      return std::max<std::int64_t>(inner, 1);
    constexpr std::int64_t line = 16;
    return ((inner + threads - 1) / threads + line - 1) / line * line;
  }

  void run(const float* x, float* y, std::int64_t chunk_size, std::int64_t item) const {
    const auto chunks = (inner + chunk_size - 1) / chunk_size;
    const auto at = item / chunks;
    const auto start = item % chunks * chunk_size;
    const auto count = static_cast<std::size_t>(std::min(chunk_size, inner - start));
    const float* from = x + at * width * inner + start;
    float* to = y + at * inner + start;
    if (inner == 1) {
      *to = sum_row(from, static_cast<std::size_t>(width)) * factor;
      return;
    }
    add_up(from, to, static_cast<std::int64_t>(count));
    scale_row(to, factor, to, count);
  }

  // Rows too short to keep vectors busy are taken several at a time, as one.
  void add_up(const float* from, float* to, std::int64_t count) const {
    constexpr std::int64_t enough = 64;
    const auto together = count == inner ? std::min(width, enough / inner) : 1;
    if (together < 2)
      return fold_rows(from, inner, width, to, count);
    std::array<float, enough> sums;
    const auto folded = width / together * together;
    fold_rows(from, together * inner, width / together, sums.data(), together * inner);
    fold_rows(sums.data(), inner, together, to, inner);
    for (auto row = folded; row < width; ++row)
      add_row(from + row * inner, to, static_cast<std::size_t>(inner));
  }
};

made_kernel folded(folding by, int threads) {
  return make_kernel({.name = "highway"}, [by, threads](const kernel_args& args) {
    const auto* x = args.inputs[0].as<const float>();
    auto* y = args.outputs[0].as<float>();
    const auto chunk = by.chunk(threads);
    parallel_for(threads, by.outer * ((by.inner + chunk - 1) / chunk), by.width * chunk,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto item = begin; item < end; ++item)
                     by.run(x, y, chunk, item);
                 });
  });
}

} // namespace

made_kernel make_highway_reduce(const kernel_spec& spec, weight_cache&) {
  if (spec.op_type != "ReduceMean" && spec.op_type != "ReduceSum")
    return decline("{} has no vectorised form", spec.op_type);
  if (auto why = not_plain_float(spec, 1))
    return decline("{}", *why);
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  auto reduced = reduced_axes(spec);
  if (!reduced)
    return tl::unexpected{std::move(reduced).error()};
  const auto& dims = spec.inputs[0].desc.dims;
  folding by;
  int phase = 0; // axes before, within and behind the reduced ones
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1)
      continue;
    if ((*reduced)[axis] ? phase == 2 : false)
      return decline("the reduced axes are not neighbours");
    if ((*reduced)[axis])
      phase = 1;
    else if (phase == 1)
      phase = 2;
    (phase == 0 ? by.outer : phase == 1 ? by.width : by.inner) *= dims[axis];
  }
  if (by.width == 0)
    return decline("a reduced axis is empty");
  if (spec.op_type == "ReduceMean")
    by.factor = 1.0F / static_cast<float>(by.width);
  return folded(by, spec.threads);
}

made_kernel make_highway_global_average(const kernel_spec& spec, weight_cache&) {
  if (spec.op_type != "GlobalAveragePool")
    return decline("{} has no vectorised form", spec.op_type);
  if (auto why = not_plain_float(spec))
    return decline("{}", *why);
  const auto& input = spec.inputs[0].desc;
  const auto places = element_count({input.dims.data() + 2, input.dims.size() - 2});
  if (places == 0)
    return decline("there is no position to average over");
  folding by;
  by.width = places;
  by.factor = 1.0F / static_cast<float>(places);
  if (input.format == layout::channels_last) {
    by.outer = input.dims[0];
    by.inner = input.dims[1];
  } else {
    by.outer = input.dims[0] * input.dims[1];
  }
  return folded(by, spec.threads);
}

} // namespace troupe::cpu
