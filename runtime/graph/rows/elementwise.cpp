// Operators that work on each element, with broadcasting: rows stay where they are.

#include "runtime/graph/rows/row_rule.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

row_axis broadcast_rows(std::span<const fact> inputs, std::span<const row_state> states,
                        std::size_t rank) {
  std::optional<std::size_t> axis;
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    if (!inputs[input].present || !states[input].has_rows())
      continue;
    if (!inputs[input].dims || inputs[input].dims->size() > rank)
      return rows_mix("the rank of an input is not known");
    const auto here = states[input].axis + rank - inputs[input].dims->size();
    if (axis && *axis != here)
      return rows_mix("its inputs have the rows in different axes");
    axis = here;
  }
  if (!axis)
    return rows_mix("no input has rows");
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    if (!inputs[input].present || states[input].has_rows())
      continue;
    if (!states[input].is_shared())
      return rows_mix(fmt::format("input {} depends on the number of rows", input));
    if (!inputs[input].dims)
      return rows_mix("the rank of an input is not known");
    const auto& dims = *inputs[input].dims;
    const auto ahead = rank - std::min(rank, dims.size());
    if (*axis >= ahead && dims[*axis - ahead] != dim{1})
      return rows_mix(
          fmt::format("input {} has a size of its own where the others have rows", input));
  }
  return *axis;
}

std::optional<std::string> unless_shared(const row_step& at, std::size_t index) {
  if (!at.has(index) || at.states[index].is_shared())
    return std::nullopt;
  return fmt::format("input {} depends on {}", index,
                     at.states[index].has_rows() ? "the rows" : "the number of rows");
}

std::optional<std::string> unless_rest_shared(const row_step& at, std::size_t first) {
  for (auto index = first; index < at.inputs.size(); ++index)
    if (auto why = unless_shared(at, index))
      return why;
  return std::nullopt;
}

std::optional<std::size_t> axis_of(const row_step& at, std::int64_t fallback, std::size_t rank) {
  auto axis = at.of.attributes.integer("axis", fallback);
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size)
    return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

namespace {

row_axis broadcasts(const row_step& at) {
  if (!at.output.dims)
    return rows_mix("the rank of its output is not known");
  return broadcast_rows(at.inputs, at.states, at.output.dims->size());
}

// Input 0 element by element; the others are parameters of every element.
row_axis keeps(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  return at.states[0].axis;
}

// CastLike reads the type of input 1, nothing of its content.
row_axis keeps_input(const row_step& at) {
  if (!at.states[0].has_rows())
    return rows_mix("input 0 has no rows");
  return at.states[0].axis;
}

// Since opset 12 input 2 says whether the model trains.
row_axis keeps_unless_dropping(const row_step& at) {
  if (at.has(2)) {
    const auto& mode = at.inputs[2].constant;
    if (!mode || mode->data.size() != 1 || mode->data.data()[0] != std::byte{0})
      return rows_mix("what it drops is drawn at random");
  }
  return keeps(at);
}

constexpr std::array rules{
    row_entry{"Abs", keeps},
    row_entry{"Acos", keeps},
    row_entry{"Acosh", keeps},
    row_entry{"Asin", keeps},
    row_entry{"Asinh", keeps},
    row_entry{"Atan", keeps},
    row_entry{"Atanh", keeps},
    row_entry{"BitCast", keeps},
    row_entry{"BitwiseNot", keeps},
    row_entry{"Cast", keeps},
    row_entry{"CastLike", keeps_input},
    row_entry{"Ceil", keeps},
    row_entry{"Celu", keeps},
    row_entry{"Clip", keeps},
    row_entry{"Cos", keeps},
    row_entry{"Cosh", keeps},
    row_entry{"Dropout", keeps_unless_dropping},
    row_entry{"Elu", keeps},
    row_entry{"Erf", keeps},
    row_entry{"Exp", keeps},
    row_entry{"Floor", keeps},
    row_entry{"Gelu", keeps},
    row_entry{"HardSigmoid", keeps},
    row_entry{"HardSwish", keeps},
    row_entry{"Identity", keeps},
    row_entry{"IsInf", keeps},
    row_entry{"IsNaN", keeps},
    row_entry{"LeakyRelu", keeps},
    row_entry{"Log", keeps},
    row_entry{"Mish", keeps},
    row_entry{"Neg", keeps},
    row_entry{"Not", keeps},
    row_entry{"Reciprocal", keeps},
    row_entry{"Relu", keeps},
    row_entry{"Reorder", keeps, "troupe"},
    row_entry{"Round", keeps},
    row_entry{"Selu", keeps},
    row_entry{"Shrink", keeps},
    row_entry{"Sigmoid", keeps},
    row_entry{"Sign", keeps},
    row_entry{"Sin", keeps},
    row_entry{"Sinh", keeps},
    row_entry{"Softplus", keeps},
    row_entry{"Softsign", keeps},
    row_entry{"Sqrt", keeps},
    row_entry{"Swish", keeps},
    row_entry{"Tan", keeps},
    row_entry{"Tanh", keeps},
    row_entry{"ThresholdedRelu", keeps},
    row_entry{"Add", broadcasts},
    row_entry{"And", broadcasts},
    row_entry{"BitShift", broadcasts},
    row_entry{"BitwiseAnd", broadcasts},
    row_entry{"BitwiseOr", broadcasts},
    row_entry{"BitwiseXor", broadcasts},
    row_entry{"Div", broadcasts},
    row_entry{"Equal", broadcasts},
    row_entry{"Greater", broadcasts},
    row_entry{"GreaterOrEqual", broadcasts},
    row_entry{"Less", broadcasts},
    row_entry{"LessOrEqual", broadcasts},
    row_entry{"Max", broadcasts},
    row_entry{"Mean", broadcasts},
    row_entry{"Min", broadcasts},
    row_entry{"Mod", broadcasts},
    row_entry{"Mul", broadcasts},
    row_entry{"Or", broadcasts},
    row_entry{"Pow", broadcasts},
    row_entry{"PRelu", broadcasts},
    row_entry{"Sub", broadcasts},
    row_entry{"Sum", broadcasts},
    row_entry{"SwiGLU", broadcasts},
    row_entry{"Where", broadcasts},
    row_entry{"Xor", broadcasts},
};

} // namespace

std::span<const row_entry> elementwise_row_rules() {
  return rules;
}

} // namespace troupe::graph
