// Places slices by tuples of indices, in their order: where tuples name one slice twice, the last
// one stays or all are combined. ONNX: ScatterND-18.

#include "kernels/cpu/gather_nd/tuples.hpp"
#include "kernels/cpu/indexing_kernels.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/scatter_elements/reduction.hpp"

#include <cstring>

namespace troupe::cpu {

namespace {

template <class Reduction, class T>
void scatter(const index_tuples& by, const std::int64_t* indices, const T* updates, T* to) {
  for (std::int64_t which = 0; which < by.slices(); ++which, updates += by.slice_elements) {
    auto* into = to + by.offset(indices, which);
    for (std::int64_t i = 0; i < by.slice_elements; ++i)
      meet<Reduction>(into[i], updates[i]);
  }
}

} // namespace

made_kernel make_scatter_nd(const kernel_spec& spec, weight_cache&) {
  auto tuples = index_tuples_of(spec, 0);
  if (!tuples)
    return tl::unexpected{std::move(tuples).error()};
  if (spec.inputs[2].desc.elements() != tuples->slices() * tuples->slice_elements)
    return decline("updates {} do not hold {} slices", to_string(spec.inputs[2].desc.dims),
                   tuples->slices());
  return make_scatter(spec, [&](auto reduction, auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({.overwrites = 1}, [by = *tuples, bytes = spec.inputs[0].desc.bytes()](
                                              const kernel_args& args) {
      const auto* indices = args.inputs[1].as<const std::int64_t>();
      auto checked = by.check(indices, "ScatterND");
      if (!checked)
        return checked;
      if (bytes > 0 && args.outputs[0].data != args.inputs[0].data)
        std::memcpy(args.outputs[0].data, args.inputs[0].data, bytes);
      scatter<decltype(reduction)>(by, indices, args.inputs[2].as<const element>(),
                                   args.outputs[0].as<element>());
      return checked;
    });
  });
}

} // namespace troupe::cpu
