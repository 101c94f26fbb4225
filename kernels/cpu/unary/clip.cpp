// Clip: bounds are attributes before opset 11 and optional inputs since. ONNX: Clip-6, Clip-13.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace troupe::cpu {

made_kernel make_reference_clip(const kernel_spec& spec, weight_cache&) {
  const std::array operands{spec.inputs[0].desc};
  auto loops = iterate(spec.outputs[0], operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  return make_numeric(operands[0].type, [&](auto tag) -> made_kernel {
    using element = typename decltype(tag)::type;
    element low = std::numeric_limits<element>::lowest();
    element high = std::numeric_limits<element>::max();
    if (spec.version < 11) {
      low =
          static_cast<element>(spec.attributes->real("min", std::numeric_limits<float>::lowest()));
      high = static_cast<element>(spec.attributes->real("max", std::numeric_limits<float>::max()));
    }
    return make_kernel({.overwrites = 1}, [loops = *loops, low, high](const kernel_args& args) {
      const auto* from = args.inputs[0].as<const element>();
      auto* to = args.outputs[0].as<element>();
      const element least = has_data(args, 1) ? *args.inputs[1].as<const element>() : low;
      const element most = has_data(args, 2) ? *args.inputs[2].as<const element>() : high;
      for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
        for (std::int64_t i = 0; i < loops.inner(); ++i)
          to[row * loops.inner() + i] =
              std::min(std::max(from[offsets[0] + i * loops.strides[0].back()], least), most);
      });
    });
  });
}

} // namespace troupe::cpu
