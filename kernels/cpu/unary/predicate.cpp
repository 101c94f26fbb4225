// Questions about single numbers. ONNX: IsInf-20, IsNaN-20.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <cmath>

namespace troupe::cpu {

namespace {

template <class Holds>
made_kernel asking(const kernel_spec& spec, const Holds& holds) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  return make_floating(spec.inputs[0].desc.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return make_kernel({}, [count = spec.outputs[0].elements(), holds](const kernel_args& args) {
      const auto* from = args.inputs[0].template as<const element>();
      auto* to = args.outputs[0].template as<std::uint8_t>();
      for (std::int64_t i = 0; i < count; ++i)
        to[i] = holds(static_cast<computed<element>>(from[i])) ? 1 : 0;
    });
  });
}

} // namespace

made_kernel make_reference_is_inf(const kernel_spec& spec, weight_cache&) {
  const bool below = spec.attributes->integer("detect_negative", 1) != 0;
  const bool above = spec.attributes->integer("detect_positive", 1) != 0;
  return asking(spec, [below, above](auto x) { return std::isinf(x) && (x < 0 ? below : above); });
}

made_kernel make_reference_is_nan(const kernel_spec& spec, weight_cache&) {
  return asking(spec, [](auto x) { return std::isnan(x); });
}

} // namespace troupe::cpu
