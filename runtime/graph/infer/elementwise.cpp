#include "runtime/graph/infer/inference.hpp"

#include "runtime/graph/onnx_type.hpp"

#include <array>

namespace troupe::graph {

namespace {

// Broadcast of all inputs from `first` on; unknown if one has no rank.
result<std::optional<symbolic_shape>> broadcast_inputs(inference& at, std::size_t first) {
  std::optional<symbolic_shape> all;
  for (auto input = first; input < at.input_count(); ++input) {
    const auto* dims = at.dims(input);
    if (dims == nullptr)
      return std::optional<symbolic_shape>{};
    auto next = all ? broadcast(*all, *dims, at.symbols()) : result<symbolic_shape>{*dims};
    if (!next)
      return propagate(next);
    all = std::move(*next);
  }
  return all;
}

result<void> typed_broadcast(inference& at, std::optional<dtype> type) {
  auto dims = broadcast_inputs(at, 0);
  if (!dims)
    return propagate(dims);
  at.set(0, type, std::move(*dims));
  return {};
}

result<void> infer_arithmetic(inference& at) {
  for (std::size_t input = 1; input < at.input_count(); ++input)
    if (auto good = at.same_type(input); !good)
      return good;
  return typed_broadcast(at, at.type(0) ? at.type(0) : at.type(at.input_count() - 1));
}

// The exponent and the shift may have a type of their own.
result<void> infer_first_type(inference& at) {
  return typed_broadcast(at, at.type(0));
}

result<void> infer_comparison(inference& at) {
  if (auto good = at.same_type(1); !good)
    return good;
  return typed_broadcast(at, dtype::boolean);
}

result<void> infer_predicate(inference& at) {
  return typed_broadcast(at, dtype::boolean);
}

result<void> infer_where(inference& at) {
  if (at.type(0) && *at.type(0) != dtype::boolean)
    return fail(errc::invalid_argument, "a BOOL condition expected, {} found",
                to_string(*at.type(0)));
  return typed_broadcast(at, at.type(1) ? at.type(1) : at.type(2));
}

// Slopes and bounds broadcast into the input, not with it.
result<void> infer_with_parameters(inference& at) {
  for (std::size_t input = 1; input < at.input_count(); ++input) {
    if (auto good = at.same_type(input); !good)
      return good;
    const auto* dims = at.dims(input);
    if (at.of().op_type == "Clip" && dims != nullptr && !dims->empty()
        && !(dims->size() == 1 && (*dims)[0] == dim{1}))
      return fail(errc::invalid_argument, "input {} as a scalar expected, {} found", input,
                  at.graph_text(*dims));
  }
  return infer_same(at);
}

result<void> infer_cast(inference& at) {
  auto type = dtype_of_onnx(at.attributes().integer("to", 0));
  if (!type)
    return propagate(type);
  (void)infer_same(at);
  at.set(0, *type, std::move(at.outputs()[0].dims));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__BitCast.html: the sizes of an element agree.
result<void> infer_bit_cast(inference& at) {
  auto type = dtype_of_onnx(at.attributes().integer("to", 0));
  if (!type)
    return propagate(type);
  if (at.type(0) && (*type == dtype::string || size_of(*at.type(0)) != size_of(*type)))
    return fail(errc::invalid_argument, "a type of {} bytes expected, {} found",
                size_of(*at.type(0)), to_string(*type));
  const auto* dims = at.dims(0);
  at.set(0, *type, dims == nullptr ? std::nullopt : std::optional{*dims});
  return {};
}

result<void> infer_swiglu(inference& at) {
  if (auto good = at.same_type(1); !good)
    return good;
  if (const auto* a = at.dims(0), *b = at.dims(1); a != nullptr && b != nullptr) {
    if (auto good = at.expect_rank(1, a->size()); !good)
      return good;
    for (std::size_t axis = 0; axis < a->size(); ++axis)
      if (auto good = at.expect_size(1, axis, (*a)[axis]); !good)
        return good;
  }
  return infer_same(at);
}

result<void> infer_cast_like(inference& at) {
  const auto* dims = at.dims(0);
  at.set(0, at.type(1), dims == nullptr ? std::nullopt : std::optional{*dims});
  return {};
}

constexpr std::array rules{
    infer_entry{"Abs", 1, 1, 1, infer_same},
    infer_entry{"Acos", 1, 1, 1, infer_same},
    infer_entry{"Acosh", 1, 1, 1, infer_same},
    infer_entry{"Asin", 1, 1, 1, infer_same},
    infer_entry{"Asinh", 1, 1, 1, infer_same},
    infer_entry{"Atan", 1, 1, 1, infer_same},
    infer_entry{"Atanh", 1, 1, 1, infer_same},
    infer_entry{"BitwiseNot", 1, 1, 1, infer_same},
    infer_entry{"Ceil", 1, 1, 1, infer_same},
    infer_entry{"Celu", 1, 1, 1, infer_same},
    infer_entry{"Cos", 1, 1, 1, infer_same},
    infer_entry{"Cosh", 1, 1, 1, infer_same},
    infer_entry{"Elu", 1, 1, 1, infer_same},
    infer_entry{"Erf", 1, 1, 1, infer_same},
    infer_entry{"Exp", 1, 1, 1, infer_same},
    infer_entry{"Floor", 1, 1, 1, infer_same},
    infer_entry{"Gelu", 1, 1, 1, infer_same},
    infer_entry{"HardSigmoid", 1, 1, 1, infer_same},
    infer_entry{"HardSwish", 1, 1, 1, infer_same},
    infer_entry{"Identity", 1, 1, 1, infer_same},
    infer_entry{"LeakyRelu", 1, 1, 1, infer_same},
    infer_entry{"Log", 1, 1, 1, infer_same},
    infer_entry{"Mish", 1, 1, 1, infer_same},
    infer_entry{"Neg", 1, 1, 1, infer_same},
    infer_entry{"Not", 1, 1, 1, infer_same},
    infer_entry{"Reciprocal", 1, 1, 1, infer_same},
    infer_entry{"Relu", 1, 1, 1, infer_same},
    infer_entry{"Round", 1, 1, 1, infer_same},
    infer_entry{"Selu", 1, 1, 1, infer_same},
    infer_entry{"Shrink", 1, 1, 1, infer_same},
    infer_entry{"Sigmoid", 1, 1, 1, infer_same},
    infer_entry{"Sign", 1, 1, 1, infer_same},
    infer_entry{"Sin", 1, 1, 1, infer_same},
    infer_entry{"Sinh", 1, 1, 1, infer_same},
    infer_entry{"Softplus", 1, 1, 1, infer_same},
    infer_entry{"Softsign", 1, 1, 1, infer_same},
    infer_entry{"Sqrt", 1, 1, 1, infer_same},
    infer_entry{"Swish", 1, 1, 1, infer_same},
    infer_entry{"Tan", 1, 1, 1, infer_same},
    infer_entry{"Tanh", 1, 1, 1, infer_same},
    infer_entry{"ThresholdedRelu", 1, 1, 1, infer_same},
    infer_entry{"Clip", 1, 3, 1, infer_with_parameters},
    infer_entry{"PRelu", 2, 2, 1, infer_with_parameters},
    infer_entry{"Cast", 1, 1, 1, infer_cast},
    infer_entry{"BitCast", 1, 1, 1, infer_bit_cast},
    infer_entry{"CastLike", 2, 2, 1, infer_cast_like},
    infer_entry{"Add", 2, 2, 1, infer_arithmetic},
    infer_entry{"Sub", 2, 2, 1, infer_arithmetic},
    infer_entry{"SwiGLU", 2, 2, 1, infer_swiglu},
    infer_entry{"Mul", 2, 2, 1, infer_arithmetic},
    infer_entry{"Div", 2, 2, 1, infer_arithmetic},
    infer_entry{"Mod", 2, 2, 1, infer_arithmetic},
    infer_entry{"Pow", 2, 2, 1, infer_first_type},
    infer_entry{"BitShift", 2, 2, 1, infer_arithmetic},
    infer_entry{"BitwiseAnd", 2, 2, 1, infer_arithmetic},
    infer_entry{"BitwiseOr", 2, 2, 1, infer_arithmetic},
    infer_entry{"BitwiseXor", 2, 2, 1, infer_arithmetic},
    infer_entry{"And", 2, 2, 1, infer_arithmetic},
    infer_entry{"Or", 2, 2, 1, infer_arithmetic},
    infer_entry{"Xor", 2, 2, 1, infer_arithmetic},
    infer_entry{"Max", 1, any_number, 1, infer_arithmetic},
    infer_entry{"Min", 1, any_number, 1, infer_arithmetic},
    infer_entry{"Sum", 1, any_number, 1, infer_arithmetic},
    infer_entry{"Mean", 1, any_number, 1, infer_arithmetic},
    infer_entry{"Equal", 2, 2, 1, infer_comparison},
    infer_entry{"Greater", 2, 2, 1, infer_comparison},
    infer_entry{"GreaterOrEqual", 2, 2, 1, infer_comparison},
    infer_entry{"Less", 2, 2, 1, infer_comparison},
    infer_entry{"LessOrEqual", 2, 2, 1, infer_comparison},
    infer_entry{"IsInf", 1, 1, 1, infer_predicate},
    infer_entry{"IsNaN", 1, 1, 1, infer_predicate},
    infer_entry{"Where", 3, 3, 1, infer_where},
};

} // namespace

std::span<const infer_entry> elementwise_rules() {
  return rules;
}

} // namespace troupe::graph
