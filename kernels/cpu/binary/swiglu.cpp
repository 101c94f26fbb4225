// A gate times a value: swish(a) * b. ONNX: SwiGLU-28.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <cmath>

namespace troupe::cpu {

made_kernel make_reference_swiglu(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  const auto& gate = spec.inputs[0].desc;
  if (spec.inputs[1].desc != gate || spec.outputs[0] != gate)
    return decline("input 1 and output like input 0 expected: no broadcasting");
  const auto alpha = spec.attributes->real("alpha", 1.0F);
  return make_floating(gate.type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    using number = computed<element>;
    return make_kernel({.overwrites = 3}, [count = gate.elements(),
                                           alpha = static_cast<number>(alpha),
                                           threads = spec.threads](const kernel_args& args) {
      const auto* a = args.inputs[0].template as<const element>();
      const auto* b = args.inputs[1].template as<const element>();
      auto* y = args.outputs[0].template as<element>();
      parallel_for(threads, count, 8, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) {
          const auto x = static_cast<number>(a[i]);
          y[i] = static_cast<element>(x / (1 + std::exp(-alpha * x)) * static_cast<number>(b[i]));
        }
      });
    });
  });
}

} // namespace troupe::cpu
