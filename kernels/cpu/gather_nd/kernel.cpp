// Picks slices by tuples of indices. ONNX: GatherND-13.

#include "kernels/cpu/gather_nd/tuples.hpp"
#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>

namespace troupe::cpu {

made_kernel make_gather_nd(const kernel_spec& spec, weight_cache&) {
  auto tuples = index_tuples_of(spec, spec.attributes->integer("batch_dims", 0));
  if (!tuples)
    return tl::unexpected{std::move(tuples).error()};
  if (spec.outputs[0].elements() != tuples->slices() * tuples->slice_elements)
    return decline("output {} does not hold {} slices", to_string(spec.outputs[0].dims),
                   tuples->slices());
  made_kernel made = decline("strings are not moved by kernels");
  visit_bits(spec.inputs[0].desc.type, [&](auto tag) {
    using bits = typename decltype(tag)::type;
    made =
        make_kernel({}, [by = *std::move(tuples), threads = spec.threads](const kernel_args& args) {
          const auto* indices = args.inputs[1].as<const std::int64_t>();
          auto checked = by.check(indices, "GatherND");
          if (!checked)
            return checked;
          const auto* from = args.inputs[0].as<const bits>();
          auto* to = args.outputs[0].as<bits>();
          parallel_for(threads, by.slices(), by.slice_elements + 8,
                       [&](std::int64_t begin, std::int64_t end) {
                         for (auto which = begin; which < end; ++which)
                           std::copy_n(from + by.offset(indices, which), by.slice_elements,
                                       to + which * by.slice_elements);
                       });
          return checked;
        });
  });
  return made;
}

} // namespace troupe::cpu
