// Operators of quantised models: as their real counterparts, with parameters that know no rows.

#include "runtime/graph/rows/row_rule.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

bool is_one_number(const row_step& at, std::size_t input) {
  return !at.has(input)
         || (at.dims(input) != nullptr
             && std::ranges::all_of(*at.dims(input), [](dim size) { return size == dim{1}; }));
}

// One scale for all, or for each index or block of an axis that is not that of the rows.
row_axis scales(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  if (!at.states[0].has_rows())
    return rows_mix("its scale depends on the rows");
  const auto axis = axis_of(at, 1, at.rank(0));
  const bool blocked = at.of.attributes.integer("block_size", 0) != 0;
  if (!is_one_number(at, 1) && (blocked || !axis || *axis == at.states[0].axis))
    return rows_mix("its scale is not the same for all rows");
  return at.states[0].axis;
}

row_axis one_scale_for_all(const row_step&) {
  return rows_mix("its scale follows from all rows");
}

// The product of inputs 0 and `right`, whose parameters are the inputs in between and behind.
row_axis product(const row_step& at, std::size_t right, std::span<const std::size_t> left_only) {
  for (std::size_t input = 1; input < at.inputs.size(); ++input)
    if (input != right)
      if (auto why = unless_shared(at, input))
        return rows_mix(std::move(*why));
  for (const auto input : left_only)
    if (at.states[0].has_rows() && !is_one_number(at, input))
      return rows_mix(fmt::format("input {} has numbers for each row", input));
  const std::array inputs{at.inputs[0], at.inputs[right]};
  const std::array states{at.states[0], at.states[right]};
  return matrix_product_rows({at.of, inputs, states, at.output, at.rows, at.symbols});
}

row_axis matmul_integer(const row_step& at) {
  constexpr std::array<std::size_t, 1> left{2};
  return product(at, 1, left);
}

row_axis qlinear_matmul(const row_step& at) {
  constexpr std::array<std::size_t, 4> left{1, 2, 6, 7};
  return product(at, 3, left);
}

row_axis qlinear_add(const row_step& at) {
  constexpr std::array<std::size_t, 6> parameters{1, 2, 4, 5, 6, 7};
  for (const auto input : parameters)
    if (auto why = unless_shared(at, input))
      return rows_mix(std::move(*why));
  const std::array inputs{at.inputs[0], at.inputs[3]};
  const std::array states{at.states[0], at.states[3]};
  return broadcast_rows(inputs, states, at.rank(0));
}

constexpr std::array rules{
    row_entry{"ConvInteger", per_image_rows},
    row_entry{"DequantizeLinear", scales},
    row_entry{"DynamicQuantizeLinear", one_scale_for_all},
    row_entry{"MatMulInteger", matmul_integer},
    row_entry{"QLinearConv", per_image_rows},
    row_entry{"QLinearMatMul", qlinear_matmul},
    row_entry{"QuantizeLinear", scales},
    row_entry{"QLinearAdd", qlinear_add, "troupe"},
    row_entry{"QLinearGemm", per_image_rows, "troupe"},
};

} // namespace

std::span<const row_entry> quantization_row_rules() {
  return rules;
}

} // namespace troupe::graph
