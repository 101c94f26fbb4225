// Operators that pick, place and rearrange elements: the rows must not be what they choose among.

#include "runtime/graph/rows/row_rule.hpp"

#include <array>

namespace troupe::graph {

namespace {

// Every input has the rows in the same axis, and attribute `axis` is another one.
row_axis beside_the_axis(const row_step& at) {
  const auto axis = axis_of(at, 0, at.rank(0));
  const auto rows = at.states[0].axis;
  for (const auto& state : at.states)
    if (!state.has_rows() || state.axis != rows)
      return rows_mix("not every input has the rows in the same axis");
  if (!axis || *axis == rows)
    return rows_mix("it chooses among the rows");
  return rows;
}

row_axis gather_nd(const row_step& at) {
  const auto batched = at.of.attributes.integer("batch_dims", 0);
  const auto& indices = at.states[1];
  if (batched < 0 || !indices.has_rows() || indices.axis + 1 >= at.rank(1))
    return rows_mix("the rows are not an axis of its index tuples");
  if (at.states[0].is_shared() && indices.axis >= static_cast<std::size_t>(batched))
    return indices.axis;
  if (at.states[0].has_rows() && at.states[0].axis == indices.axis
      && indices.axis < static_cast<std::size_t>(batched))
    return indices.axis;
  return rows_mix("it chooses among the rows");
}

row_axis one_hot(const row_step& at) {
  if (!at.states[0].has_rows())
    return rows_mix("its depth or values depend on the rows");
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  const auto axis = axis_of(at, -1, at.rank(0) + 1);
  if (!axis)
    return rows_mix("its axis is out of range");
  return at.states[0].axis < *axis ? at.states[0].axis : at.states[0].axis + 1;
}

row_axis reverse_sequence(const row_step& at) {
  const auto batch = static_cast<std::size_t>(at.of.attributes.integer("batch_axis", 1));
  if (!at.states[0].has_rows())
    return rows_mix("only the lengths have rows");
  const bool lengths_fit =
      at.states[0].axis == batch ? at.states[1].has_rows() : at.states[1].is_shared();
  if (!lengths_fit || (at.states[0].axis < 2 && at.states[0].axis != batch))
    return rows_mix("the rows are not its batch");
  return at.states[0].axis;
}

// Images, or caches, of which each row is one.
row_axis first_axis(const row_step& at) {
  for (std::size_t input = 0; input < at.states.size(); ++input)
    if (at.has(input) && (!at.states[input].has_rows() || at.states[input].axis != 0))
      return rows_mix("not every input has the rows in axis 0");
  return 0;
}

row_axis center_crop_pad(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  const auto rank = static_cast<std::int64_t>(at.rank(0));
  const auto axes = at.of.attributes.integers("axes");
  for (const auto axis : axes)
    if (axis + (axis < 0 ? rank : 0) == static_cast<std::int64_t>(at.states[0].axis))
      return rows_mix("it cuts the rows");
  if (!at.of.attributes.has("axes"))
    return rows_mix("it cuts the rows");
  return at.states[0].axis;
}

constexpr std::array rules{
    row_entry{"CenterCropPad", center_crop_pad},
    row_entry{"DepthToSpace", first_axis},
    row_entry{"GatherElements", beside_the_axis},
    row_entry{"GatherND", gather_nd},
    row_entry{"OneHot", one_hot},
    row_entry{"ReverseSequence", reverse_sequence},
    row_entry{"Scatter", beside_the_axis},
    row_entry{"ScatterElements", beside_the_axis},
    row_entry{"SpaceToDepth", first_axis},
    row_entry{"TensorScatter", first_axis},
};

} // namespace

std::span<const row_entry> indexing_row_rules() {
  return rules;
}

} // namespace troupe::graph
