// Operators that move elements: where the axis of the rows goes.

#include "runtime/graph/dim_math.hpp"
#include "runtime/graph/infer/slice_bounds.hpp"
#include "runtime/graph/rows/row_rule.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

// Whether as many runs as there are rows make up the axis.
bool holds_rows(dim size, dim rows, const graph& symbols) {
  if (size == rows || size.known())
    return size == rows;
  const auto* parts = symbols.product_of(size.symbol());
  return parts != nullptr && std::ranges::count(*parts, rows) == 1;
}

// Elements keep their row-major order. The rows are axis j of the output if it has their number and
// as many elements lie before it: then index i of it is the same elements as index i before. An
// axis that joins them with axes behind them has row i in its i-th run.
row_axis same_order(const row_step& at) {
  const auto* data = at.dims(0);
  const auto& out = at.output.dims;
  if (!at.states[0].has_rows() || data == nullptr || !out)
    return rows_mix("the rank of its output is not known");
  const auto from = at.states[0].axis;
  const auto before = product({data->data(), from}, at.symbols);
  for (std::size_t axis = 0; before && axis < out->size(); ++axis)
    if (holds_rows((*out)[axis], at.rows, at.symbols))
      if (const auto here = product({out->data(), axis}, at.symbols); here && *here == *before)
        return axis;
  return rows_mix("it joins the rows with axes before them, or parts them from no one knows what");
}

row_axis transpose(const row_step& at) {
  const auto rank = at.rank(0);
  const auto perm = at.of.attributes.integers("perm");
  if (perm.empty())
    return rank - 1 - at.states[0].axis;
  for (std::size_t axis = 0; axis < perm.size(); ++axis)
    if (perm[axis] == static_cast<std::int64_t>(at.states[0].axis)
        || perm[axis] + static_cast<std::int64_t>(rank)
               == static_cast<std::int64_t>(at.states[0].axis))
      return axis;
  return rows_mix("its perm leaves the rows out");
}

row_axis concat(const row_step& at) {
  const auto axis = axis_of(at, 0, at.rank(0));
  for (const auto& state : at.states)
    if (!state.has_rows() || state.axis != at.states[0].axis)
      return rows_mix("not every input has the rows in the same axis");
  if (!axis || *axis == at.states[0].axis)
    return rows_mix("it joins along the rows");
  return at.states[0].axis;
}

row_axis split(const row_step& at) {
  const auto axis = axis_of(at, 0, at.rank(0));
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  if (!axis || *axis == at.states[0].axis)
    return rows_mix("it cuts the rows");
  return at.states[0].axis;
}

row_axis slice(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  if (at.dims(0) == nullptr)
    return rows_mix("the rank of input 0 is not known");
  const auto cuts = slice_bounds_of(inference{at.of, at.inputs, at.symbols});
  if (!cuts || !*cuts)
    return rows_mix("its axes are not constant");
  for (const auto& cut : **cuts)
    if (cut.axis == at.states[0].axis && !takes_all(cut, at.states[0].size))
      return rows_mix("it cuts the rows");
  return at.states[0].axis;
}

row_axis gather(const row_step& at) {
  const auto axis = axis_of(at, 0, at.rank(0));
  if (!axis || at.dims(1) == nullptr)
    return rows_mix("the rank of an input is not known");
  if (at.states[1].has_rows()) {
    if (auto why = unless_shared(at, 0))
      return rows_mix(std::move(*why));
    return *axis + at.states[1].axis;
  }
  if (auto why = unless_shared(at, 1))
    return rows_mix(std::move(*why));
  if (*axis == at.states[0].axis)
    return rows_mix("it picks among the rows");
  return at.states[0].axis < *axis ? at.states[0].axis : at.states[0].axis + at.rank(1) - 1;
}

row_axis expand(const row_step& at) {
  if (!at.states[0].has_rows() || !at.output.dims)
    return rows_mix("its shape depends on the rows");
  return at.states[0].axis + at.output.dims->size() - at.rank(0);
}

row_axis pad(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  auto pads = std::optional{at.of.attributes.integers("pads")};
  if (at.has(1))
    pads = at.inputs[1].constant ? integers_of(*at.inputs[1].constant) : std::nullopt;
  if (!pads || at.has(3) || pads->size() != 2 * at.rank(0))
    return rows_mix("its pads are not constants for all axes");
  const auto rows = at.states[0].axis;
  if ((*pads)[rows] != 0 || (*pads)[rows + at.rank(0)] != 0)
    return rows_mix("it pads the rows");
  return rows;
}

row_axis tile(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  const auto repeats = at.inputs[1].constant ? integers_of(*at.inputs[1].constant) : std::nullopt;
  if (!repeats || repeats->size() != at.rank(0) || (*repeats)[at.states[0].axis] != 1)
    return rows_mix("it repeats the rows");
  return at.states[0].axis;
}

// An axis whose size stays is not resized: its scale is 1.
row_axis resize(const row_step& at) {
  if (!at.states[0].has_rows() || !at.output.dims || at.output.dims->size() != at.rank(0)
      || (*at.output.dims)[at.states[0].axis] != at.states[0].size)
    return rows_mix("it resizes the rows");
  for (std::size_t input = 1; input < at.inputs.size(); ++input)
    if (at.has(input) && at.states[input].has_rows())
      return rows_mix(fmt::format("input {} depends on the rows", input));
  return at.states[0].axis;
}

row_axis cumulate(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  const auto axis = at.inputs[1].constant ? integers_of(*at.inputs[1].constant) : std::nullopt;
  if (!axis || axis->size() != 1)
    return rows_mix("its axis is not constant");
  const auto rank = static_cast<std::int64_t>(at.rank(0));
  const auto from_front = axis->front() < 0 ? axis->front() + rank : axis->front();
  if (from_front == static_cast<std::int64_t>(at.states[0].axis))
    return rows_mix("it works along the rows");
  return at.states[0].axis;
}

row_axis triangle(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  if (at.states[0].axis + 2 >= at.rank(0))
    return rows_mix("it works along the rows");
  return at.states[0].axis;
}

constexpr std::array rules{
    row_entry{"Concat", concat},
    row_entry{"CumProd", cumulate},
    row_entry{"CumSum", cumulate},
    row_entry{"Expand", expand},
    row_entry{"Flatten", same_order, {}, 0, true},
    row_entry{"Gather", gather},
    row_entry{"Pad", pad},
    row_entry{"Reshape", same_order, {}, 0, true},
    row_entry{"Resize", resize},
    row_entry{"Slice", slice},
    row_entry{"Split", split},
    row_entry{"Squeeze", same_order, {}, 0, true},
    row_entry{"Tile", tile},
    row_entry{"Transpose", transpose},
    row_entry{"Trilu", triangle},
    row_entry{"Unsqueeze", same_order, {}, 0, true},
    row_entry{"Upsample", resize},
};

} // namespace

std::span<const row_entry> movement_row_rules() {
  return rules;
}

} // namespace troupe::graph
