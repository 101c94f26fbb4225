// Operators on the bits of integers. ONNX: BitwiseAnd-18, BitwiseOr-18, BitwiseXor-18,
// BitwiseNot-18, BitShift-28.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <limits>
#include <type_traits>

namespace troupe::cpu {

namespace {

template <class T>
using operation = T (*)(T, T);

// Both operands are the same element where the operator has one input.
template <class T>
made_kernel combining(const kernel_spec& spec, operation<T> of) {
  std::vector<tensor_desc> operands{spec.inputs.front().desc, spec.inputs.back().desc};
  auto loops = iterate(spec.outputs[0], operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  return make_kernel({}, [loops = *std::move(loops), of](const kernel_args& args) {
    const auto* a = args.inputs.front().as<const T>();
    const auto* b = args.inputs.back().as<const T>();
    auto* to = args.outputs[0].as<T>();
    for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
      for (std::int64_t i = 0; i < loops.inner(); ++i)
        to[row * loops.inner() + i] = of(a[offsets[0] + i * loops.strides[0].back()],
                                         b[offsets[1] + i * loops.strides[1].back()]);
    });
  });
}

template <class T>
bool shifts_all_out(T by) {
  return by < 0 || by >= std::numeric_limits<std::make_unsigned_t<T>>::digits;
}

// A shift by a negative number, or by all bits, leaves what extending the sign leaves.
template <class T>
T shift_left(T x, T by) {
  using bits = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
  return shifts_all_out(by) ? T{0} : static_cast<T>(static_cast<bits>(x) << by);
}

template <class T>
T shift_right(T x, T by) {
  if (shifts_all_out(by))
    return x < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(x >> by);
}

template <class T>
operation<T> operation_for(const kernel_spec& spec) {
  const auto op = spec.op_type;
  if (op == "BitwiseAnd")
    return [](T a, T b) { return static_cast<T>(a & b); };
  if (op == "BitwiseOr")
    return [](T a, T b) { return static_cast<T>(a | b); };
  if (op == "BitwiseXor")
    return [](T a, T b) { return static_cast<T>(a ^ b); };
  if (op == "BitwiseNot")
    return [](T a, T) { return static_cast<T>(~a); };
  return spec.attributes->text("direction") == "LEFT" ? shift_left<T> : shift_right<T>;
}

} // namespace

made_kernel make_reference_bitwise(const kernel_spec& spec, weight_cache&) {
  if (spec.op_type == "BitShift") {
    const auto direction = spec.attributes->text("direction");
    if (direction != "LEFT" && direction != "RIGHT")
      return decline("direction LEFT or RIGHT expected, '{}' found", direction);
  }
  const auto type = spec.inputs[0].desc.type;
  if (spec.inputs.back().desc.type != type)
    return decline("inputs differ in datatype");
  return make_numeric(type, [&](auto tag) -> made_kernel {
    using element = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<element>)
      return combining<element>(spec, operation_for<element>(spec));
    else
      return decline("integers expected, {} found", to_string(type));
  });
}

} // namespace troupe::cpu
