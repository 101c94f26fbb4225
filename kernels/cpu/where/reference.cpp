// Where: picks from two tensors by a third, all broadcast. ONNX: Where-16.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

template <class T>
made_kernel picking(iteration loops) {
  return make_kernel({}, [loops = std::move(loops)](const kernel_args& args) {
    const auto* condition = args.inputs[0].as<const std::uint8_t>();
    const auto* yes = args.inputs[1].as<const T>();
    const auto* no = args.inputs[2].as<const T>();
    auto* to = args.outputs[0].as<T>();
    for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
      for (std::int64_t i = 0; i < loops.inner(); ++i)
        to[row * loops.inner() + i] = condition[offsets[0] + i * loops.strides[0].back()] != 0
                                          ? yes[offsets[1] + i * loops.strides[1].back()]
                                          : no[offsets[2] + i * loops.strides[2].back()];
    });
  });
}

} // namespace

made_kernel make_reference_where(const kernel_spec& spec, weight_cache&) {
  const std::array operands{spec.inputs[0].desc, spec.inputs[1].desc, spec.inputs[2].desc};
  if (operands[0].type != dtype::boolean || operands[1].type != operands[2].type
      || operands[1].type == dtype::string)
    return decline("expected a BOOL condition and two numeric tensors of one type");
  auto loops = iterate(spec.outputs[0], operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  switch (size_of(operands[1].type)) {
    case 1: return picking<std::uint8_t>(*std::move(loops));
    case 2: return picking<std::uint16_t>(*std::move(loops));
    case 4: return picking<std::uint32_t>(*std::move(loops));
    default: return picking<std::uint64_t>(*std::move(loops));
  }
}

} // namespace troupe::cpu
