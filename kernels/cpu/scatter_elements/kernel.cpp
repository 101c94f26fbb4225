// Places one element for each index, along an axis. ONNX: ScatterElements-18 and its elder,
// Scatter-9.

#include "kernels/cpu/gather_elements/rows.hpp"
#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/indices.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/scatter_elements/reduction.hpp"

#include <cstring>

namespace troupe::cpu {

namespace {

// Slices of the indices never meet in one element, rows of a slice may.
template <class Reduction, class T, class Index>
void scatter(const element_rows& by, int threads, const Index* indices, const T* updates, T* to) {
  const auto width = by.over.inner();
  const auto slices = by.rows_a_slice > 0 ? by.over.outer() / by.rows_a_slice : 0;
  const auto cost = 4 * by.rows_a_slice * width;
  parallel_for(threads, slices, cost, [&](std::int64_t begin, std::int64_t end) {
    for_each_row(by.over, begin * by.rows_a_slice, end * by.rows_a_slice,
                 [&](std::int64_t row, auto offsets) {
                   auto* base = to + offsets[0];
                   const auto* places = indices + row * width;
                   const auto* values = updates + row * width;
                   for (std::int64_t i = 0; i < width; ++i)
                     meet<Reduction>(base[i * by.step + from_front(places[i], by.size) * by.stride],
                                     values[i]);
                 });
  });
}

} // namespace

made_kernel make_scatter_elements(const kernel_spec& spec, weight_cache&) {
  auto rows = element_rows_of(spec);
  if (!rows)
    return tl::unexpected{std::move(rows).error()};
  if (spec.inputs[2].desc.dims != spec.inputs[1].desc.dims)
    return decline("updates are {}, the indices {}", to_string(spec.inputs[2].desc.dims),
                   to_string(spec.inputs[1].desc.dims));
  return make_scatter(spec, [&](auto reduction, auto tag) {
    using element = typename decltype(tag)::type;
    made_kernel made =
        decline("indices are {}, not INT64 or INT32", to_string(spec.inputs[1].desc.type));
    visit_index(spec.inputs[1].desc.type, [&](auto index) {
      using position = typename decltype(index)::type;
      made = make_kernel({.overwrites = 1}, [by = *rows, bytes = spec.inputs[0].desc.bytes(),
                                             threads = spec.threads](const kernel_args& args) {
        const auto* indices = args.inputs[1].as<const position>();
        auto checked = check_indices(indices, by.count(), by.size, "ScatterElements");
        if (!checked)
          return checked;
        if (bytes > 0 && args.outputs[0].data != args.inputs[0].data)
          std::memcpy(args.outputs[0].data, args.inputs[0].data, bytes);
        scatter<decltype(reduction)>(by, threads, indices, args.inputs[2].as<const element>(),
                                     args.outputs[0].as<element>());
        return checked;
      });
    });
    return made;
  });
}

} // namespace troupe::cpu
