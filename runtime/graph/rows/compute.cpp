// Operators that combine elements: the rows must be an axis they do not combine along.

#include "runtime/graph/rows/row_rule.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

// Convolutions, pools and normalisations.
row_axis per_image_rows(const row_step& at) {
  if (!at.states[0].has_rows() || at.states[0].axis != 0)
    return rows_mix("the rows are not in axis 0 of input 0");
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  if (at.of.outputs.size() > 1 && at.of.outputs[1] != no_value && at.of.op_type == "MaxPool")
    return rows_mix("its output 1 counts positions through all rows");
  return 0;
}

namespace {

// The axis of a matrix product's output where an input's axis comes out; nothing for the inner
// axis.
std::optional<std::size_t> product_axis(const row_step& at, std::size_t input) {
  const auto rank = at.rank(input);
  const auto out = at.output.dims->size();
  const auto axis = at.states[input].axis;
  if (rank < 2)
    return std::nullopt; // a vector is all inner axis
  const auto inner = input == 0 ? rank - 1 : rank - 2;
  if (axis == inner)
    return std::nullopt;
  if (axis + 2 < rank) { // a stack axis: both sides line up there
    const auto other = at.rank(1 - input);
    const auto matrix_axes = other == 1 ? 1U : 2U;
    return out - matrix_axes - (rank - 2 - axis);
  }
  return input == 0 && at.rank(1) > 1 ? out - 2 : out - 1;
}

bool is_stack_axis(const row_step& at, std::size_t input) {
  return at.states[input].axis + 2 < at.rank(input);
}

} // namespace

row_axis matrix_product_rows(const row_step& at) {
  if (!at.output.dims || at.dims(0) == nullptr || at.dims(1) == nullptr)
    return rows_mix("the rank of an input is not known");
  std::optional<std::size_t> axis;
  for (std::size_t input : {0U, 1U}) {
    if (!at.states[input].has_rows()) {
      if (auto why = unless_shared(at, input))
        return rows_mix(std::move(*why));
      continue;
    }
    const auto here = product_axis(at, input);
    if (!here)
      return rows_mix(fmt::format("it sums over the rows of input {}", input));
    if (axis && *axis != *here)
      return rows_mix("its inputs have the rows in different axes");
    axis = here;
  }
  const bool both = at.states[0].has_rows() && at.states[1].has_rows();
  if (both && !(is_stack_axis(at, 0) && is_stack_axis(at, 1)))
    return rows_mix("it combines the rows of one input with those of the other");
  if (both)
    return *axis;
  const std::size_t with = at.states[0].has_rows() ? 0 : 1;
  const auto other = 1 - with;
  if (!is_stack_axis(at, with))
    return *axis;
  // The other side is repeated for each row, or has nothing in that axis.
  const auto from_back = at.rank(with) - at.states[with].axis;
  if (at.rank(other) >= from_back && (*at.dims(other))[at.rank(other) - from_back] != dim{1})
    return rows_mix(fmt::format("input {} has a size of its own where the other has rows", other));
  return *axis;
}

namespace {

row_axis general_product(const row_step& at) {
  const auto turned = static_cast<std::size_t>(at.of.attributes.integer("transA", 0) != 0);
  if (!at.states[0].has_rows() || at.states[0].axis != turned)
    return rows_mix("the rows are not those of matrix A");
  if (auto why = unless_shared(at, 1))
    return rows_mix(std::move(*why));
  if (!at.has(2))
    return 0;
  const std::array<fact, 2> addends{at.output, at.inputs[2]};
  const std::array<row_state, 2> states{row_state{row_state::kind::rows, 0}, at.states[2]};
  return broadcast_rows(addends, states, 2);
}

// Normalises all axes from `axis` on.
row_axis before_axis(const row_step& at, std::int64_t fallback) {
  if (!at.states[0].has_rows())
    return rows_mix("a parameter depends on the rows");
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  const auto axis = axis_of(at, fallback, at.rank(0));
  if (!axis || at.states[0].axis >= *axis)
    return rows_mix("it normalises over the rows");
  for (std::size_t input = 1; input < at.inputs.size(); ++input)
    if (at.rank(input) > at.rank(0) - *axis)
      return rows_mix(fmt::format("input {} has axes beside the normalised ones", input));
  return at.states[0].axis;
}

row_axis layer_normalization(const row_step& at) {
  return before_axis(at, -1);
}

row_axis beside_axis(const row_step& at, std::int64_t fallback) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  const auto axis = axis_of(at, fallback, at.rank(0));
  if (!axis || at.states[0].axis == *axis)
    return rows_mix("it works along the rows");
  return at.states[0].axis;
}

// Before opset 13 softmax normalised all axes from `axis` on, since then along it.
row_axis softmax(const row_step& at) {
  return at.of.version < 13 ? before_axis(at, 1) : beside_axis(at, -1);
}

row_axis along_last(const row_step& at) {
  return beside_axis(at, -1);
}

std::optional<std::vector<std::int64_t>> reduced_axes(const row_step& at) {
  if (!at.has(1))
    return at.of.attributes.integers("axes");
  return at.inputs[1].constant ? integers_of(*at.inputs[1].constant) : std::nullopt;
}

row_axis without_axes(const row_step& at, std::span<const std::int64_t> axes, bool keep) {
  const auto rank = static_cast<std::int64_t>(at.rank(0));
  const auto rows = at.states[0].axis;
  std::size_t before = 0;
  for (auto axis : axes) {
    const auto from_front = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    if (from_front == rows)
      return rows_mix("it reduces the rows");
    before += from_front < rows ? 1 : 0;
  }
  return keep ? rows : rows - before;
}

row_axis reduce(const row_step& at) {
  const auto axes = reduced_axes(at);
  if (!at.states[0].has_rows() || !axes)
    return rows_mix("its axes are not constant");
  const bool nothing = axes->empty() && at.of.attributes.integer("noop_with_empty_axes", 0) != 0;
  if (axes->empty() && !nothing)
    return rows_mix("it reduces all axes");
  return without_axes(at, *axes, at.of.attributes.integer("keepdims", 1) != 0);
}

row_axis arg_reduce(const row_step& at) {
  const auto axis = at.of.attributes.integer("axis", 0);
  return without_axes(at, {&axis, 1}, at.of.attributes.integer("keepdims", 1) != 0);
}

constexpr std::array rules{
    row_entry{"ArgMax", arg_reduce},
    row_entry{"ArgMin", arg_reduce},
    row_entry{"AveragePool", per_image_rows},
    row_entry{"BatchNormalization", per_image_rows},
    row_entry{"Conv", per_image_rows},
    row_entry{"ConvTranspose", per_image_rows},
    row_entry{"Gemm", general_product},
    row_entry{"GlobalAveragePool", per_image_rows},
    row_entry{"GlobalLpPool", per_image_rows},
    row_entry{"GlobalMaxPool", per_image_rows},
    row_entry{"GroupNormalization", per_image_rows},
    row_entry{"Hardmax", softmax},
    row_entry{"InstanceNormalization", per_image_rows},
    row_entry{"LayerNormalization", layer_normalization},
    row_entry{"LogSoftmax", softmax},
    row_entry{"LpNormalization", along_last},
    row_entry{"LpPool", per_image_rows},
    row_entry{"LRN", per_image_rows},
    row_entry{"MatMul", matrix_product_rows},
    row_entry{"MaxPool", per_image_rows},
    row_entry{"ReduceL1", reduce},
    row_entry{"ReduceL2", reduce},
    row_entry{"ReduceLogSum", reduce},
    row_entry{"ReduceLogSumExp", reduce},
    row_entry{"ReduceMax", reduce},
    row_entry{"ReduceMean", reduce},
    row_entry{"ReduceMin", reduce},
    row_entry{"ReduceProd", reduce},
    row_entry{"ReduceSum", reduce},
    row_entry{"ReduceSumSquare", reduce},
    row_entry{"RMSNormalization", layer_normalization},
    row_entry{"Softmax", softmax},
    row_entry{"SqueezeExcite", per_image_rows, "troupe"},
    row_entry{"TopK", along_last},
};

} // namespace

std::span<const row_entry> compute_row_rules() {
  return rules;
}

} // namespace troupe::graph
