// One output element of one element of each input.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/highway_kernels.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr auto fused = post_ops_by::kernel;

constexpr std::array binary{
    candidate{"highway", make_highway_binary, fused},
    candidate{"highway", make_highway_binary},
    candidate{"reference", make_reference_binary},
};
constexpr std::array cast{candidate{"reference", make_reference_cast}};
constexpr std::array bit_cast{candidate{"reference", make_reference_bit_cast}};
constexpr std::array bitwise{candidate{"reference", make_reference_bitwise}};

constexpr std::array clip{
    candidate{"highway", make_highway_clip, fused},
    candidate{"highway", make_highway_clip},
    candidate{"reference", make_reference_clip},
};
constexpr std::array comparison{candidate{"reference", make_reference_comparison}};
constexpr std::array is_inf{candidate{"reference", make_reference_is_inf}};
constexpr std::array is_nan{candidate{"reference", make_reference_is_nan}};
constexpr std::array logical{candidate{"reference", make_reference_logical}};
constexpr std::array logical_not{candidate{"reference", make_reference_not}};

constexpr std::array unary{
    candidate{"highway", make_highway_unary, fused},
    candidate{"highway", make_highway_unary},
    candidate{"reference", make_reference_unary},
};
constexpr std::array swiglu{candidate{"reference", make_reference_swiglu}};
constexpr std::array where{candidate{"reference", make_reference_where}};

constexpr std::array power{
    candidate{"highway", make_highway_pow, fused},
    candidate{"highway", make_highway_pow},
    candidate{"reference", make_reference_pow},
};

constexpr std::array operators{
    operator_entry{"", "Add", binary, 2},
    operator_entry{"", "Sub", binary, 2},
    operator_entry{"", "Mul", binary, 2},
    operator_entry{"", "Div", binary, 2},
    operator_entry{"", "Pow", power, 2},
    operator_entry{"", "Mod", binary, 2},
    operator_entry{"", "Min", binary},
    operator_entry{"", "Max", binary},
    operator_entry{"", "Sum", binary},
    operator_entry{"", "Mean", binary},
    operator_entry{"", "PRelu", binary, 2},
    operator_entry{"", "SwiGLU", swiglu, 2},
    operator_entry{"", "BitShift", bitwise, 2},
    operator_entry{"", "BitwiseAnd", bitwise, 2},
    operator_entry{"", "BitwiseOr", bitwise, 2},
    operator_entry{"", "BitwiseXor", bitwise, 2},
    operator_entry{"", "BitwiseNot", bitwise},
    operator_entry{"", "Equal", comparison, 2},
    operator_entry{"", "Less", comparison, 2},
    operator_entry{"", "LessOrEqual", comparison, 2},
    operator_entry{"", "Greater", comparison, 2},
    operator_entry{"", "GreaterOrEqual", comparison, 2},
    operator_entry{"", "And", logical, 2},
    operator_entry{"", "Or", logical, 2},
    operator_entry{"", "Xor", logical, 2},
    operator_entry{"", "Not", logical_not},
    operator_entry{"", "Relu", unary},
    operator_entry{"", "LeakyRelu", unary},
    operator_entry{"", "Elu", unary},
    operator_entry{"", "Sigmoid", unary},
    operator_entry{"", "Softplus", unary},
    operator_entry{"", "HardSigmoid", unary},
    operator_entry{"", "HardSwish", unary},
    operator_entry{"", "Gelu", unary},
    operator_entry{"", "Erf", unary},
    operator_entry{"", "Exp", unary},
    operator_entry{"", "Log", unary},
    operator_entry{"", "Tanh", unary},
    operator_entry{"", "Sqrt", unary},
    operator_entry{"", "Neg", unary},
    operator_entry{"", "Abs", unary},
    operator_entry{"", "Floor", unary},
    operator_entry{"", "Ceil", unary},
    operator_entry{"", "Round", unary},
    operator_entry{"", "Reciprocal", unary},
    operator_entry{"", "Sin", unary},
    operator_entry{"", "Cos", unary},
    operator_entry{"", "Tan", unary},
    operator_entry{"", "Asin", unary},
    operator_entry{"", "Acos", unary},
    operator_entry{"", "Atan", unary},
    operator_entry{"", "Sinh", unary},
    operator_entry{"", "Cosh", unary},
    operator_entry{"", "Asinh", unary},
    operator_entry{"", "Acosh", unary},
    operator_entry{"", "Atanh", unary},
    operator_entry{"", "Sign", unary},
    operator_entry{"", "Selu", unary},
    operator_entry{"", "Celu", unary},
    operator_entry{"", "Mish", unary},
    operator_entry{"", "Swish", unary},
    operator_entry{"", "Softsign", unary},
    operator_entry{"", "Shrink", unary},
    operator_entry{"", "ThresholdedRelu", unary},
    operator_entry{"", "IsInf", is_inf},
    operator_entry{"", "IsNaN", is_nan},
    operator_entry{"", "Clip", clip},
    operator_entry{"", "Where", where, 3},
    operator_entry{"", "Cast", cast},
    operator_entry{"", "CastLike", cast, 2},
    operator_entry{"", "BitCast", bit_cast},
};

} // namespace

std::span<const operator_entry> elementwise_operators() {
  return operators;
}

} // namespace troupe::cpu
