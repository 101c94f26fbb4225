// Operators of one input, element by element. ONNX: Relu-14, LeakyRelu-16, Sigmoid-13,
// HardSigmoid-6, HardSwish-14, Elu-6, Softplus-1, Gelu-20, Erf-13, Exp-13, Log-13, Tanh-13,
// Sqrt-13, Neg-13, Abs-13, Floor-13, Ceil-13, Round-11, Reciprocal-13, Sin-7, Cos-7, Not-1.

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

// `a` and `b` are the operator's alpha and beta.
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

struct unary_operator {
  std::string_view op_type;
  scalar_function of;
  double alpha = 0;
  double beta = 0;
};

constexpr std::array operators{
    unary_operator{"Relu", [](double x, double, double) { return x < 0 ? 0.0 : x; }},
    unary_operator{"LeakyRelu", [](double x, double a, double) { return x < 0 ? a * x : x; }, 0.01},
    unary_operator{"Elu", [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; },
                   1},
    unary_operator{"Sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    unary_operator{"Softplus",
                   [](double x, double, double) { //
                     return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
                   }},
    unary_operator{"HardSigmoid", gate, 0.2, 0.5},
    unary_operator{"HardSwish", [](double x, double a, double b) { return x * gate(x, a, b); },
                   1.0 / 6, 0.5},
    unary_operator{"Gelu", gelu},
    unary_operator{"Erf", [](double x, double, double) { return std::erf(x); }},
    unary_operator{"Exp", [](double x, double, double) { return std::exp(x); }},
    unary_operator{"Log", [](double x, double, double) { return std::log(x); }},
    unary_operator{"Tanh", [](double x, double, double) { return std::tanh(x); }},
    unary_operator{"Sqrt", [](double x, double, double) { return std::sqrt(x); }},
    unary_operator{"Neg", [](double x, double, double) { return -x; }},
    unary_operator{"Abs", [](double x, double, double) { return std::abs(x); }},
    unary_operator{"Floor", [](double x, double, double) { return std::floor(x); }},
    unary_operator{"Ceil", [](double x, double, double) { return std::ceil(x); }},
    unary_operator{"Round", [](double x, double, double) { return std::nearbyint(x); }},
    unary_operator{"Reciprocal", [](double x, double, double) { return 1 / x; }},
    unary_operator{"Sin", [](double x, double, double) { return std::sin(x); }},
    unary_operator{"Cos", [](double x, double, double) { return std::cos(x); }},
};

template <class T, class Of>
made_kernel elementwise(iteration loops, Of of) {
  return make_kernel({.overwrites = 1}, [loops = std::move(loops), of](const kernel_args& args) {
    const auto* from = args.inputs[0].as<const T>();
    auto* to = args.outputs[0].as<T>();
    for_each_row(loops, 0, loops.outer(), [&](std::int64_t row, auto offsets) {
      for (std::int64_t i = 0; i < loops.inner(); ++i)
        to[row * loops.inner() + i] =
            static_cast<T>(of(from[offsets[0] + i * loops.strides[0].back()]));
    });
  });
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
  auto of = known->of;
  if (spec.op_type == "Gelu" && spec.attributes->text("approximate", "none") == "tanh")
    of = gelu_tanh;
  // HardSwish has no attributes of its own; alpha and beta of the others default as ONNX says.
  const bool fixed = spec.op_type == "HardSwish";
  const double alpha =
      fixed ? known->alpha : spec.attributes->real("alpha", static_cast<float>(known->alpha));
  const double beta =
      fixed ? known->beta : spec.attributes->real("beta", static_cast<float>(known->beta));
  const auto type = spec.inputs[0].desc.type;
  const bool integral_too =
      spec.op_type == "Neg" || spec.op_type == "Abs" || spec.op_type == "Relu";
  if (type == dtype::int64 && integral_too) {
    // 64 bits do not fit through a double.
    if (spec.op_type == "Neg")
      return elementwise<std::int64_t>(*std::move(loops), [](std::int64_t x) { return -x; });
    if (spec.op_type == "Abs")
      return elementwise<std::int64_t>(*std::move(loops),
                                       [](std::int64_t x) { return x < 0 ? -x : x; });
    return elementwise<std::int64_t>(*std::move(loops),
                                     [](std::int64_t x) { return x < 0 ? 0 : x; });
  }
  if (type == dtype::uint64 || (!is_floating(type) && !integral_too))
    return decline("datatype {} is not supported", to_string(type));
  return make_numeric(type, [&](auto tag) {
    return elementwise<typename decltype(tag)::type>(*std::move(loops), [of, alpha, beta](auto x) {
      return of(static_cast<double>(x), alpha, beta);
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
