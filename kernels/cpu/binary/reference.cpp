// Operators of two or more inputs with multidirectional broadcasting. ONNX: Add-14, Sub-14, Mul-14,
// Div-14, Mod-28, Min-13, Max-13, Sum-13, Mean-13, PRelu-16, Equal-19, Less-13, LessOrEqual-16,
// Greater-13, GreaterOrEqual-16, And-7, Or-7, Xor-7.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/number_types.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace troupe::cpu {

namespace {

enum class byte : std::uint8_t {}; // an element of a BOOL output, a type apart from UINT8

// Integer arithmetic wraps, as everywhere on the machines we run on, and divides by zero to zero.
template <class T>
T divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0)
      return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  }
  return static_cast<T>(a / b);
}

// The remainder of the quotient rounded down, which has the sign of b, or of the one rounded
// towards zero where `truncated`.
template <class T>
T modulo(T a, T b, bool truncated) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)))
      return 0;
    const T rest = static_cast<T>(a % b);
    return !truncated && rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else {
    const T rest = std::fmod(a, b);
    if (truncated || std::isnan(rest))
      return rest;
    if (rest == 0)
      return std::copysign(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

template <class T, class Of>
T wrapped(T a, T b, Of of) {
  if constexpr (std::is_integral_v<T>) {
    using wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(of(static_cast<wide>(a), static_cast<wide>(b)));
  } else {
    return of(a, b);
  }
}

// Folds the operands of an element from the left: Min, Max, Sum and Mean take any number of them.
// `of` is a pointer so that one loop a datatype serves all operators; the vector kernels are the
// fast ones. The total is divided by `divisor` where that is not 0.
template <class In, class Out, class Of>
made_kernel folded(const kernel_spec& spec, Of of, std::uint64_t overwrites,
                   std::size_t divisor = 0) {
  using number = computed<In>;
  std::vector<tensor_desc> operands;
  for (const auto& input : spec.inputs)
    operands.push_back(input.desc);
  auto loops = iterate(spec.outputs[0], operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  return make_kernel({.overwrites = overwrites}, [loops = *std::move(loops), of,
                                                  divisor](const kernel_args& args) {
    auto* to = args.outputs[0].as<Out>();
    const auto count = loops.strides.size();
    for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
      for (std::int64_t i = 0; i < loops.inner(); ++i) {
        const auto at = [&](std::size_t operand) {
          return static_cast<number>(
              args.inputs[operand]
                  .template as<const In>()[offsets[operand] + i * loops.strides[operand].back()]);
        };
        if constexpr (std::is_same_v<In, Out>) {
          number value = at(0);
          for (std::size_t operand = 1; operand < count; ++operand)
            value = of(value, at(operand));
          if (divisor != 0)
            value = static_cast<number>(value / static_cast<number>(divisor));
          to[row * loops.inner() + i] = static_cast<Out>(value);
        } else {
          to[row * loops.inner() + i] = Out{static_cast<std::uint8_t>(of(at(0), at(1)))};
        }
      }
    });
  });
}

// An input that has the output's very shape and layout may give its memory to the output.
std::uint64_t inputs_like_output(const kernel_spec& spec) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < spec.inputs.size(); ++i)
    if (spec.inputs[i].desc == spec.outputs[0])
      mask |= std::uint64_t{1} << i;
  return mask;
}

template <class Element>
made_kernel arithmetic(const kernel_spec& spec) {
  using T = computed<Element>;
  const auto overwrites = inputs_like_output(spec);
  const auto with = [&](T (*of)(T, T)) { return folded<Element, Element>(spec, of, overwrites); };
  const auto op = spec.op_type;
  if (op == "Add" || op == "Sum")
    return with([](T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x + y; }); });
  if (op == "Sub")
    return with([](T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x - y; }); });
  if (op == "Mul")
    return with([](T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x * y; }); });
  if (op == "Div")
    return with([](T a, T b) { return divide(a, b); });
  if (op == "Mod")
    return spec.attributes->integer("fmod", 0) != 0
               ? with([](T a, T b) { return modulo(a, b, true); })
               : with([](T a, T b) { return modulo(a, b, false); });
  if (op == "Min") // of which NaN is the least, and the greatest
    return with([](T a, T b) { return a < b || a != a ? a : b; });
  if (op == "Max")
    return with([](T a, T b) { return a > b || a != a ? a : b; });
  if (op == "PRelu")
    return with(
        [](T a, T b) { return a < 0 ? wrapped(a, b, [](auto x, auto y) { return x * y; }) : a; });
  if constexpr (std::is_floating_point_v<T>)
    if (op == "Mean")
      return folded<Element, Element>(
          spec, +[](T a, T b) { return a + b; }, overwrites, spec.inputs.size());
  return decline("{} is not an arithmetic operator", op);
}

template <class Element>
made_kernel comparison(const kernel_spec& spec) {
  using T = computed<Element>;
  const auto with = [&](bool (*of)(T, T)) { return folded<Element, byte>(spec, of, 0); };
  const auto op = spec.op_type;
  if (op == "Equal")
    return with([](T a, T b) { return a == b; });
  if (op == "Less")
    return with([](T a, T b) { return a < b; });
  if (op == "LessOrEqual")
    return with([](T a, T b) { return a <= b; });
  if (op == "Greater")
    return with([](T a, T b) { return a > b; });
  if (op == "GreaterOrEqual")
    return with([](T a, T b) { return a >= b; });
  return decline("{} is not a comparison", op);
}

std::optional<std::string> types_differ(const kernel_spec& spec) {
  if (spec.inputs.empty())
    return "there is no input";
  for (const auto& input : spec.inputs)
    if (!input.present || input.desc.type != spec.inputs[0].desc.type)
      return "inputs differ in datatype";
  return std::nullopt;
}

} // namespace

made_kernel make_reference_binary(const kernel_spec& spec, weight_cache&) {
  if (auto why = types_differ(spec))
    return decline("{}", *why);
  if (spec.outputs[0].type != spec.inputs[0].desc.type)
    return decline("output is {}, inputs are {}", to_string(spec.outputs[0].type),
                   to_string(spec.inputs[0].desc.type));
  return make_number(spec.outputs[0].type, [&](auto tag) { //
    return arithmetic<typename decltype(tag)::type>(spec);
  });
}

made_kernel make_reference_comparison(const kernel_spec& spec, weight_cache&) {
  if (auto why = types_differ(spec))
    return decline("{}", *why);
  if (spec.outputs[0].type != dtype::boolean)
    return decline("output is {}, not BOOL", to_string(spec.outputs[0].type));
  if (spec.inputs[0].desc.type == dtype::boolean)
    return comparison<std::uint8_t>(spec);
  return make_number(spec.inputs[0].desc.type, [&](auto tag) { //
    return comparison<typename decltype(tag)::type>(spec);
  });
}

made_kernel make_reference_logical(const kernel_spec& spec, weight_cache&) {
  if (auto why = types_differ(spec))
    return decline("{}", *why);
  if (spec.inputs[0].desc.type != dtype::boolean)
    return decline("expected BOOL, found {}", to_string(spec.inputs[0].desc.type));
  using bits = std::uint8_t;
  const auto overwrites = inputs_like_output(spec);
  const auto with = [&](bits (*of)(bits, bits)) {
    return folded<bits, bits>(spec, of, overwrites);
  };
  if (spec.op_type == "And")
    return with([](bits a, bits b) -> bits { return a & b; });
  if (spec.op_type == "Or")
    return with([](bits a, bits b) -> bits { return a | b; });
  return with([](bits a, bits b) -> bits { return a ^ b; });
}

} // namespace troupe::cpu
