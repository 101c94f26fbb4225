// Operators on images: which of them keep images apart.

#include "runtime/graph/rows/row_rule.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace troupe::graph {

namespace {

// Every input with rows has them in axis 0, and all but those in `shared` have rows.
row_axis in_first_axis(const row_step& at, std::initializer_list<std::size_t> shared) {
  for (std::size_t input = 0; input < at.states.size(); ++input) {
    if (!at.has(input))
      continue;
    if (std::ranges::find(shared, input) != shared.end()) {
      if (auto why = unless_shared(at, input))
        return rows_mix(std::move(*why));
    } else if (!at.states[input].has_rows() || at.states[input].axis != 0) {
      return rows_mix(fmt::format("input {} does not have the rows in axis 0", input));
    }
  }
  return 0;
}

row_axis grid_sample(const row_step& at) {
  return in_first_axis(at, {});
}

row_axis col2im(const row_step& at) {
  return in_first_axis(at, {1, 2});
}

row_axis deform_conv(const row_step& at) {
  return in_first_axis(at, {1, 3});
}

constexpr std::array rules{
    row_entry{"Col2Im", col2im},
    row_entry{"DeformConv", deform_conv},
    row_entry{"GridSample", grid_sample},
};

} // namespace

std::span<const row_entry> vision_row_rules() {
  return rules;
}

} // namespace troupe::graph
