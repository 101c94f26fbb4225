// Where the rows of mathematical operators go.

#include "kernels/op/einsum.hpp"
#include "runtime/graph/rows/row_rule.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

// The index of the rows must come out, and every operand that has it must have rows there.
row_axis einsum_rows(const row_step& at) {
  std::vector<std::size_t> ranks;
  for (std::size_t input = 0; input < at.inputs.size(); ++input) {
    if (at.dims(input) == nullptr)
      return rows_mix("the rank of an input is not known");
    ranks.push_back(at.rank(input));
  }
  const auto parsed = parse_einsum(at.of.attributes.text("equation"), ranks);
  if (!parsed)
    return rows_mix(parsed.error().text);
  std::optional<int> label;
  for (std::size_t input = 0; input < ranks.size(); ++input) {
    if (!at.states[input].has_rows())
      continue;
    const int here = parsed->inputs[input][at.states[input].axis];
    if (label && *label != here)
      return rows_mix("its inputs have the rows in different indices");
    label = here;
  }
  if (!label)
    return rows_mix("no input has rows");
  for (std::size_t input = 0; input < ranks.size(); ++input) {
    const auto& own = parsed->inputs[input];
    const auto uses = std::ranges::count(own, *label);
    if (at.states[input].has_rows()) {
      if (uses != 1)
        return rows_mix("an index of the rows stands twice in a term");
      continue;
    }
    if (auto why = unless_shared(at, input))
      return rows_mix(std::move(*why));
    const auto place = static_cast<std::size_t>(std::ranges::find(own, *label) - own.begin());
    if (uses != 0 && !(from_ellipsis(*label) && (*at.dims(input))[place] == dim{1}))
      return rows_mix(fmt::format("input {} has a size of its own where others have rows", input));
  }
  const auto out = std::ranges::find(parsed->output, *label);
  if (out == parsed->output.end())
    return rows_mix("it sums over the rows");
  return static_cast<std::size_t>(out - parsed->output.begin());
}

// Matrices, or frames, that the first `rank - kept` axes count.
row_axis before_last(const row_step& at, std::size_t last) {
  if (!at.states[0].has_rows() || at.states[0].axis + last >= at.rank(0))
    return rows_mix("it combines the rows");
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  return at.states[0].axis;
}

row_axis det_rows(const row_step& at) {
  return before_last(at, 2);
}

row_axis dft_rows(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  const auto rank = static_cast<std::int64_t>(at.rank(0));
  std::int64_t axis = at.of.version < 20 ? at.of.attributes.integer("axis", 1) : -2;
  if (at.has(2)) {
    const auto given = at.inputs[2].constant ? integers_of(*at.inputs[2].constant) : std::nullopt;
    if (!given || given->size() != 1)
      return rows_mix("its axis is not constant");
    axis = given->front();
  }
  const auto rows = static_cast<std::int64_t>(at.states[0].axis);
  if (rows == (axis < 0 ? axis + rank : axis) || rows + 1 == rank)
    return rows_mix("it transforms the rows");
  return at.states[0].axis;
}

// Its axes are an attribute, of which the rows are one by default.
row_axis mean_variance_rows(const row_step& at) {
  auto axes = at.of.attributes.integers("axes");
  if (axes.empty())
    axes = {0, 2, 3};
  const auto rank = static_cast<std::int64_t>(at.rank(0));
  for (const auto axis : axes)
    if ((axis < 0 ? axis + rank : axis) == static_cast<std::int64_t>(at.states[0].axis))
      return rows_mix("it normalises over the rows");
  return at.states[0].axis;
}

constexpr std::array rules{
    row_entry{"DFT", dft_rows},        row_entry{"Det", det_rows},
    row_entry{"Einsum", einsum_rows},  row_entry{"MeanVarianceNormalization", mean_variance_rows},
    row_entry{"STFT", per_image_rows},
};

} // namespace

std::span<const row_entry> mathematics_row_rules() {
  return rules;
}

} // namespace troupe::graph
