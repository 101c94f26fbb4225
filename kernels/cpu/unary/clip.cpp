// Clip: bounds are attributes before opset 11 and optional inputs since; one left out is the
// datatype's own. ONNX: Clip-6, Clip-13.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace troupe::cpu {

namespace {

template <class T>
computed<T> largest() {
  if constexpr (std::is_same_v<T, half>)
    return 65504.0F;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return 0x1.FEp127F;
  else
    return std::numeric_limits<T>::max();
}

template <class T>
computed<T> lowest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::lowest();
  else
    return -largest<T>();
}

} // namespace

made_kernel make_reference_clip(const kernel_spec& spec, weight_cache&) {
  const std::array operands{spec.inputs[0].desc};
  auto loops = iterate(spec.outputs[0], operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  return make_number(operands[0].type, [&](auto tag) -> made_kernel {
    using element = typename decltype(tag)::type;
    using number = computed<element>;
    number low = lowest<element>();
    number high = largest<element>();
    if (spec.version < 11 && spec.attributes->has("min"))
      low = static_cast<number>(spec.attributes->real("min", 0.0F));
    if (spec.version < 11 && spec.attributes->has("max"))
      high = static_cast<number>(spec.attributes->real("max", 0.0F));
    return make_kernel({.overwrites = 1}, [loops = *loops, low, high](const kernel_args& args) {
      const auto* from = args.inputs[0].as<const element>();
      auto* to = args.outputs[0].as<element>();
      const auto bound = [&](std::size_t input, number otherwise) {
        return has_data(args, input) ? static_cast<number>(*args.inputs[input].as<const element>())
                                     : otherwise;
      };
      const number least = bound(1, low);
      const number most = bound(2, high);
      for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
        for (std::int64_t i = 0; i < loops.inner(); ++i) {
          const auto x = static_cast<number>(from[offsets[0] + i * loops.strides[0].back()]);
          to[row * loops.inner() + i] = static_cast<element>(std::min(std::max(x, least), most));
        }
      });
    });
  });
}

} // namespace troupe::cpu
