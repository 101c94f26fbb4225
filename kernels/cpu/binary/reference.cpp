// Operators of two or more inputs with multidirectional broadcasting. ONNX: Add-14, Sub-14, Mul-14,
// Div-14, Pow-15, Min-13, Max-13, Sum-13, Equal-13, Less-13, LessOrEqual-16, Greater-13,
// GreaterOrEqual-16, And-7, Or-7, Xor-7, Mod-13.

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace troupe::cpu {

namespace {

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

// The remainder with the sign of b, or of a where `like_c`.
template <class T>
T modulo(T a, T b, bool like_c) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == static_cast<T>(-1))
      return 0;
    const T rest = static_cast<T>(a % b);
    return !like_c && rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else {
    return std::fmod(a, b);
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

// Folds the operands of an element from the left: Min, Max and Sum take any number of them. `of` is
// a pointer so that one loop a datatype serves all operators; the vector kernels are the fast ones.
template <class In, class Out, class Of>
made_kernel folded(const kernel_spec& spec, Of of, std::uint64_t overwrites) {
  std::vector<tensor_desc> operands;
  for (const auto& input : spec.inputs)
    operands.push_back(input.desc);
  auto loops = iterate(spec.outputs[0], operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  return make_kernel(
      {.overwrites = overwrites}, [loops = *std::move(loops), of](const kernel_args& args) {
        auto* to = args.outputs[0].as<Out>();
        const auto count = loops.strides.size();
        for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
          for (std::int64_t i = 0; i < loops.inner(); ++i) {
            const auto at = [&](std::size_t operand) {
              return args.inputs[operand]
                  .template as<const In>()[offsets[operand] + i * loops.strides[operand].back()];
            };
            if constexpr (std::is_same_v<In, Out>) {
              In value = at(0);
              for (std::size_t operand = 1; operand < count; ++operand)
                value = of(value, at(operand));
              to[row * loops.inner() + i] = value;
            } else {
              to[row * loops.inner() + i] = of(at(0), at(1)) ? 1 : 0;
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

template <class T>
made_kernel arithmetic(const kernel_spec& spec) {
  const auto overwrites = inputs_like_output(spec);
  const auto with = [&](T (*of)(T, T)) { return folded<T, T>(spec, of, overwrites); };
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
  if (op == "Pow")
    return with([](T a, T b) { return static_cast<T>(std::pow(a, b)); });
  if (op == "Min")
    return with([](T a, T b) { return std::min(a, b); });
  if (op == "Max")
    return with([](T a, T b) { return std::max(a, b); });
  return decline("{} is not an arithmetic operator", op);
}

template <class T>
made_kernel comparison(const kernel_spec& spec) {
  const auto with = [&](bool (*of)(T, T)) { return folded<T, std::uint8_t>(spec, of, 0); };
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
  return make_numeric(spec.outputs[0].type, [&](auto tag) { //
    return arithmetic<typename decltype(tag)::type>(spec);
  });
}

// A power whose exponent has a type of its own.
made_kernel make_reference_pow(const kernel_spec& spec, weight_cache& weights) {
  if (spec.inputs[0].desc.type == spec.inputs[1].desc.type)
    return make_reference_binary(spec, weights);
  const std::array operands{spec.inputs[0].desc, spec.inputs[1].desc};
  if (spec.outputs[0].type != operands[0].type)
    return decline("output is {}, the base {}", to_string(spec.outputs[0].type),
                   to_string(operands[0].type));
  auto loops = iterate(spec.outputs[0], operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  return make_numeric(operands[0].type, [&](auto base) {
    return make_numeric(operands[1].type, [&](auto exponent) {
      using base_type = typename decltype(base)::type;
      using exponent_type = typename decltype(exponent)::type;
      return make_kernel({}, [loops = *loops](const kernel_args& args) {
        const auto* x = args.inputs[0].template as<const base_type>();
        const auto* by = args.inputs[1].template as<const exponent_type>();
        auto* to = args.outputs[0].template as<base_type>();
        for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
          for (std::int64_t i = 0; i < loops.inner(); ++i)
            to[row * loops.inner() + i] = static_cast<base_type>(
                std::pow(static_cast<double>(x[offsets[0] + i * loops.strides[0].back()]),
                         static_cast<double>(by[offsets[1] + i * loops.strides[1].back()])));
        });
      });
    });
  });
}

made_kernel make_reference_comparison(const kernel_spec& spec, weight_cache&) {
  if (auto why = types_differ(spec))
    return decline("{}", *why);
  if (spec.outputs[0].type != dtype::boolean)
    return decline("output is {}, not BOOL", to_string(spec.outputs[0].type));
  if (spec.inputs[0].desc.type == dtype::boolean)
    return comparison<std::uint8_t>(spec);
  return make_numeric(spec.inputs[0].desc.type, [&](auto tag) { //
    return comparison<typename decltype(tag)::type>(spec);
  });
}

made_kernel make_reference_logical(const kernel_spec& spec, weight_cache&) {
  if (auto why = types_differ(spec))
    return decline("{}", *why);
  if (spec.inputs[0].desc.type != dtype::boolean)
    return decline("expected BOOL, found {}", to_string(spec.inputs[0].desc.type));
  using byte = std::uint8_t;
  const auto overwrites = inputs_like_output(spec);
  const auto with = [&](byte (*of)(byte, byte)) {
    return folded<byte, byte>(spec, of, overwrites);
  };
  if (spec.op_type == "And")
    return with([](byte a, byte b) -> byte { return a & b; });
  if (spec.op_type == "Or")
    return with([](byte a, byte b) -> byte { return a | b; });
  return with([](byte a, byte b) -> byte { return a ^ b; });
}

} // namespace troupe::cpu
