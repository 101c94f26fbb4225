// Picks one element for each index, along an axis. ONNX: GatherElements-13.

#include "kernels/cpu/gather_elements/rows.hpp"
#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/indices.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"

namespace troupe::cpu {

namespace {

template <class T, class Index>
void gather(const element_rows& by, int threads, const T* from, const Index* indices, T* to) {
  const auto width = by.over.inner();
  parallel_for(threads, by.over.outer(), 4 * width, [&](std::int64_t begin, std::int64_t end) {
    for_each_row(by.over, begin, end, [&](std::int64_t row, auto offsets) {
      const auto* base = from + offsets[0];
      const auto* picks = indices + row * width;
      auto* into = to + row * width;
      for (std::int64_t i = 0; i < width; ++i)
        into[i] = base[i * by.step + from_front(picks[i], by.size) * by.stride];
    });
  });
}

} // namespace

made_kernel make_gather_elements(const kernel_spec& spec, weight_cache&) {
  auto rows = element_rows_of(spec);
  if (!rows)
    return tl::unexpected{std::move(rows).error()};
  const auto make = [&](auto element, auto index) {
    using bits = typename decltype(element)::type;
    using position = typename decltype(index)::type;
    return make_kernel({}, [by = *rows, threads = spec.threads](const kernel_args& args) {
      const auto* indices = args.inputs[1].as<const position>();
      auto checked = check_indices(indices, by.count(), by.size, "GatherElements");
      if (checked)
        gather(by, threads, args.inputs[0].as<const bits>(), indices, args.outputs[0].as<bits>());
      return checked;
    });
  };
  return make_indexed(spec.inputs[0].desc.type, spec.inputs[1].desc.type, make);
}

} // namespace troupe::cpu
