// Operators of one input, element by element. ONNX, the newest versions that differ: Abs-13,
// Acos-22, Acosh-22, Asin-22, Asinh-22, Atan-22, Atanh-22, Ceil-13, Celu-28, Cos-22, Cosh-22,
// Elu-22, Erf-13, Exp-13, Floor-13, Gelu-20, HardSigmoid-22, HardSwish-22, LeakyRelu-16, Log-13,
// Mish-22, Neg-13, Reciprocal-13, Relu-14, Round-22, Selu-22, Shrink-9, Sigmoid-13, Sign-13,
// Sin-22, Sinh-22, Softplus-22, Softsign-22, Sqrt-13, Swish-24, Tan-22, Tanh-13,
// ThresholdedRelu-22.

#include "kernels/cpu/cast/convert.hpp"
#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/reference_kernels.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace troupe::cpu {

namespace {

using scalar_function = double (*)(double x, double a, double b);

double gate(double x, double a, double b) {
  return std::max(0.0, std::min(1.0, a * x + b));
}
double gelu(double x, double, double) {
  return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
}
double gelu_tanh(double x, double, double) {
  return 0.5 * x
         * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double softplus(double x, double, double) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}
double sign(double x, double, double) {
  return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
}
double shrink(double x, double lambda, double bias) {
  return x < -lambda ? x + bias : x > lambda ? x - bias : 0.0;
}

/// An attribute and its default; no name where the operator has none but a constant.
struct parameter {
  std::string_view name{};
  double value = 0;
};

struct unary_operator {
  std::string_view op_type;
  scalar_function of;
  parameter a{};
  parameter b{};
  bool integers = false; ///< defined for integers too
};

constexpr bool integers_too = true;

constexpr std::array operators{
    unary_operator{
        "Relu", [](double x, double, double) { return x < 0 ? 0.0 : x; }, {}, {}, integers_too},
    unary_operator{
        "LeakyRelu", [](double x, double a, double) { return x < 0 ? a * x : x; }, {"alpha", 0.01}},
    unary_operator{"Elu",
                   [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; },
                   {"alpha", 1}},
    unary_operator{"Celu",
                   [](double x, double a, double) { return x < 0 ? a * std::expm1(x / a) : x; },
                   {"alpha", 1}},
    unary_operator{
        "Selu",
        [](double x, double a, double gamma) { return gamma * (x < 0 ? a * std::expm1(x) : x); },
        {"alpha", 1.67326319217681884765625},
        {"gamma", 1.05070102214813232421875}},
    unary_operator{"ThresholdedRelu",
                   [](double x, double a, double) { return x > a ? x : 0.0; },
                   {"alpha", 1}},
    unary_operator{"Shrink", shrink, {"lambd", 0.5}, {"bias", 0}, integers_too},
    unary_operator{"Sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    unary_operator{"Swish",
                   [](double x, double a, double) { return x / (1 + std::exp(-a * x)); },
                   {"alpha", 1}},
    unary_operator{"Softplus", softplus},
    unary_operator{"Mish",
                   [](double x, double, double) { return x * std::tanh(softplus(x, 0, 0)); }},
    unary_operator{"Softsign", [](double x, double, double) { return x / (1 + std::abs(x)); }},
    unary_operator{"HardSigmoid", gate, {"alpha", 0.2}, {"beta", 0.5}},
    unary_operator{"HardSwish",
                   [](double x, double a, double b) { return x * gate(x, a, b); },
                   {{}, 1.0 / 6},
                   {{}, 0.5}},
    unary_operator{"Gelu", gelu},
    unary_operator{
        "Erf", [](double x, double, double) { return std::erf(x); }, {}, {}, integers_too},
    unary_operator{"Exp", [](double x, double, double) { return std::exp(x); }},
    unary_operator{"Log", [](double x, double, double) { return std::log(x); }},
    unary_operator{"Sqrt", [](double x, double, double) { return std::sqrt(x); }},
    unary_operator{"Neg", [](double x, double, double) { return -x; }, {}, {}, integers_too},
    unary_operator{
        "Abs", [](double x, double, double) { return std::abs(x); }, {}, {}, integers_too},
    unary_operator{"Sign", sign, {}, {}, integers_too},
    unary_operator{"Floor", [](double x, double, double) { return std::floor(x); }},
    unary_operator{"Ceil", [](double x, double, double) { return std::ceil(x); }},
    unary_operator{"Round", [](double x, double, double) { return std::nearbyint(x); }},
    unary_operator{"Reciprocal", [](double x, double, double) { return 1 / x; }},
    unary_operator{"Sin", [](double x, double, double) { return std::sin(x); }},
    unary_operator{"Cos", [](double x, double, double) { return std::cos(x); }},
    unary_operator{"Tan", [](double x, double, double) { return std::tan(x); }},
    unary_operator{"Asin", [](double x, double, double) { return std::asin(x); }},
    unary_operator{"Acos", [](double x, double, double) { return std::acos(x); }},
    unary_operator{"Atan", [](double x, double, double) { return std::atan(x); }},
    unary_operator{"Sinh", [](double x, double, double) { return std::sinh(x); }},
    unary_operator{"Cosh", [](double x, double, double) { return std::cosh(x); }},
    unary_operator{"Tanh", [](double x, double, double) { return std::tanh(x); }},
    unary_operator{"Asinh", [](double x, double, double) { return std::asinh(x); }},
    unary_operator{"Acosh", [](double x, double, double) { return std::acosh(x); }},
    unary_operator{"Atanh", [](double x, double, double) { return std::atanh(x); }},
};

template <class T, class Of>
made_kernel elementwise(iteration loops, Of of) {
  return make_kernel({.overwrites = 1}, [loops = std::move(loops), of](const kernel_args& args) {
    const auto* from = args.inputs[0].as<const T>();
    auto* to = args.outputs[0].as<T>();
    for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
      for (std::int64_t i = 0; i < loops.inner(); ++i)
        to[row * loops.inner() + i] = of(from[offsets[0] + i * loops.strides[0].back()]);
    });
  });
}

// Integers of 64 bits do not fit through a double; those that any operator changes wrap.
template <class T>
made_kernel exact(std::string_view op_type, iteration loops) {
  using wide = std::make_unsigned_t<T>;
  const auto with = [&](T (*of)(T)) { return elementwise<T>(std::move(loops), of); };
  if (op_type == "Neg")
    return with([](T x) { return static_cast<T>(wide{0} - static_cast<wide>(x)); });
  if (op_type == "Abs")
    return with([](T x) { return x < 0 ? static_cast<T>(wide{0} - static_cast<wide>(x)) : x; });
  if (op_type == "Relu")
    return with([](T x) { return x < 0 ? T{0} : x; });
  return with([](T x) { return static_cast<T>((x > 0) - (x < 0)); });
}

double value_of(const parameter& of, const attribute_map& attributes) {
  if (of.name.empty())
    return of.value;
  return static_cast<double>(attributes.real(of.name, static_cast<float>(of.value)));
}

} // namespace

made_kernel make_reference_unary(const kernel_spec& spec, weight_cache&) {
  const auto* known = std::ranges::find(operators, spec.op_type, &unary_operator::op_type);
  if (known == operators.end())
    return decline("{} is not a unary operator", spec.op_type);
  const std::array operands{spec.inputs[0].desc};
  auto loops = iterate(spec.outputs[0], operands);
  if (!loops)
    return tl::unexpected{std::move(loops).error()};
  if (operands[0].format != spec.outputs[0].format)
    return decline("input and output differ in layout");
  const auto type = operands[0].type;
  if (!is_floating(type) && !known->integers)
    return decline("datatype {} is not supported", to_string(type));
  const auto op = spec.op_type;
  if (type == dtype::int64 && (op == "Neg" || op == "Abs" || op == "Relu" || op == "Sign"))
    return exact<std::int64_t>(op, *std::move(loops));
  if (type == dtype::uint64 && (op == "Abs" || op == "Sign"))
    return exact<std::uint64_t>(op, *std::move(loops));
  auto of = known->of;
  if (op == "Gelu" && spec.attributes->text("approximate", "none") == "tanh")
    of = gelu_tanh;
  const double a = value_of(known->a, *spec.attributes);
  const double b = value_of(known->b, *spec.attributes);
  return make_number(type, [&](auto tag) {
    using element = typename decltype(tag)::type;
    return elementwise<element>(*std::move(loops), [of, a, b](element x) {
      return convert<element>(of(static_cast<double>(static_cast<computed<element>>(x)), a, b));
    });
  });
}

made_kernel make_reference_not(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (spec.inputs[0].desc.type != dtype::boolean)
    return decline("expected BOOL, found {}", to_string(spec.inputs[0].desc.type));
  return make_kernel({.overwrites = 1},
                     [count = spec.outputs[0].elements()](const kernel_args& args) {
                       const auto* from = args.inputs[0].as<const std::uint8_t>();
                       auto* to = args.outputs[0].as<std::uint8_t>();
                       for (std::int64_t i = 0; i < count; ++i)
                         to[i] = from[i] == 0 ? 1 : 0;
                     });
}

} // namespace troupe::cpu
