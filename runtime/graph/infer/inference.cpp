#include "runtime/graph/infer/inference.hpp"

#include <algorithm>

namespace troupe::graph {

namespace {

// Operands of post-ops stand behind the operator's own inputs.
std::size_t own_inputs(const node& of, std::size_t all) {
  for (const auto& step : of.post_ops)
    if (step.kind == post_op_kind::add || step.kind == post_op_kind::multiply)
      all = std::min(all, step.operand);
  return all;
}

} // namespace

inference::inference(const node& of, std::span<const fact> inputs, graph& fresh)
    : of_{of}, inputs_{inputs.first(own_inputs(of, inputs.size()))}, symbols_{fresh},
      outputs_(of.outputs.size()) {}

std::vector<element> inference::elements(std::size_t input) const {
  if (!has(input))
    return {};
  const auto& known = inputs_[input];
  return known.constant ? elements_of_constant(*known.constant) : known.elements;
}

std::optional<std::vector<std::int64_t>> inference::integers(std::size_t input) const {
  if (!has(input) || !inputs_[input].constant)
    return std::nullopt;
  return integers_of(*inputs_[input].constant);
}

std::optional<std::int64_t> inference::length(std::size_t input) const {
  const auto* known = dims(input);
  if (known == nullptr || known->size() != 1 || !known->front().known())
    return std::nullopt;
  return known->front().size();
}

std::optional<symbolic_shape> inference::sizes_in(std::size_t input) {
  symbolic_shape sizes;
  const auto content = elements(input);
  for (const auto& next : content)
    sizes.push_back(next.is_known() && !(next.is_number() && next.number() < 0)
                        ? next.size()
                        : symbols_.fresh_dim());
  if (!content.empty())
    return sizes;
  const auto known = length(input);
  if (!known || *known > max_tracked_elements)
    return std::nullopt;
  return unknown(static_cast<std::size_t>(*known));
}

void inference::set(std::size_t output, std::optional<dtype> type,
                    std::optional<symbolic_shape> dims) {
  if (!wants(output))
    return;
  outputs_[output].present = true;
  outputs_[output].type = type;
  outputs_[output].dims = std::move(dims);
}

void inference::set_kind(std::size_t output, value_kind kind) {
  if (wants(output))
    outputs_[output].kind = kind;
}

void inference::set_elements(std::size_t output, std::vector<element> elements) {
  if (!wants(output) || elements.empty())
    return;
  auto& to = outputs_[output];
  const auto known = to.dims ? concrete(*to.dims) : std::nullopt;
  if (!to.type || !known || known->size() > 1
      || element_count(*known) != static_cast<std::int64_t>(elements.size()))
    return;
  to.constant = constant_of_elements(*to.type, *known, elements);
  if (!to.constant)
    to.elements = std::move(elements);
}

symbolic_shape inference::unknown(std::size_t count) {
  symbolic_shape dims;
  for (std::size_t axis = 0; axis < count; ++axis)
    dims.push_back(symbols_.fresh_dim());
  return dims;
}

result<std::size_t> inference::axis_in(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size)
    return fail(errc::invalid_argument, "axis in [{}, {}) expected, {} found", -size, size, axis);
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

result<std::vector<std::size_t>> inference::axes_in(std::span<const std::int64_t> axes,
                                                    std::size_t rank) {
  std::vector<std::size_t> found;
  for (auto axis : axes) {
    auto normal = axis_in(axis, rank);
    if (!normal)
      return propagate(normal);
    if (std::ranges::find(found, *normal) != found.end())
      return fail(errc::invalid_argument, "axis {} is named twice", axis);
    found.push_back(*normal);
  }
  return found;
}

result<void> inference::same_type(std::size_t input) const {
  const auto first = type(0);
  const auto other = type(input);
  if (first && other && *first != *other)
    return fail(errc::invalid_argument, "input {} of type {} expected, {} found", input,
                to_string(*first), to_string(*other));
  return {};
}

result<void> inference::expect_rank(std::size_t input, std::size_t rank) const {
  const auto* known = dims(input);
  if (known != nullptr && known->size() != rank)
    return fail(errc::invalid_argument, "input {} of rank {} expected, {} found", input, rank,
                graph_text(*known));
  return {};
}

result<void> inference::expect_size(std::size_t input, std::size_t axis, dim expected) const {
  const auto* known = dims(input);
  if (known == nullptr || !expected.known() || !(*known)[axis].known()
      || (*known)[axis] == expected)
    return {};
  return fail(errc::invalid_argument, "input {} with size {} in axis {} expected, {} found", input,
              expected.size(), axis, graph_text(*known));
}

std::string inference::graph_text(std::span<const dim> dims) const {
  return to_string(dims, symbols_);
}

result<void> infer_same(inference& at) {
  const auto* dims = at.dims(0);
  at.set(0, at.type(0), dims == nullptr ? std::nullopt : std::optional{*dims});
  at.set_kind(0, at.kind(0));
  return {};
}

} // namespace troupe::graph
