// Conversion between datatypes, to a given one or to that of another tensor. ONNX: Cast-28,
// CastLike-25, without strings; `saturate` and `round_mode` speak of types that are not supported.

#include "kernels/cpu/cast/convert.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

namespace {

template <class Use>
bool visit_castable(dtype type, const Use& use) {
  switch (type) {
    case dtype::boolean: use(type_tag<truth>{}); return true;
    default: return visit_number(type, use);
  }
}

} // namespace

made_kernel make_reference_cast(const kernel_spec& spec, weight_cache&) {
  const auto& from = spec.inputs[0].desc;
  const auto& to = spec.outputs[0];
  if (from.format != to.format || !has_strides(from.format))
    return decline("input and output differ in layout");
  made_kernel made =
      decline("no conversion from {} to {}", to_string(from.type), to_string(to.type));
  visit_castable(from.type, [&](auto source) {
    visit_castable(to.type, [&](auto target) {
      using source_type = typename decltype(source)::type;
      using target_type = typename decltype(target)::type;
      const std::uint64_t overwrites = from.type == to.type ? 1 : 0;
      made = make_kernel({.overwrites = overwrites},
                         [count = from.elements()](const kernel_args& args) {
                           const auto* x = args.inputs[0].as<const source_type>();
                           auto* y = args.outputs[0].as<target_type>();
                           for (std::int64_t i = 0; i < count; ++i)
                             y[i] = convert<target_type>(x[i]);
                         });
    });
  });
  return made;
}

} // namespace troupe::cpu
