#include "runtime/graph/infer/inference.hpp"

#include <array>
#include <vector>

namespace troupe::graph {

namespace {

// What axis `open` of the target must be so that the number of elements stays; fresh if unknown.
result<dim> open_size(inference& at, const symbolic_shape& target, std::size_t open) {
  const auto* data = at.dims(0);
  symbolic_shape others;
  for (std::size_t axis = 0; axis < target.size(); ++axis)
    if (axis != open)
      others.push_back(target[axis]);
  if (data == nullptr)
    return at.symbols().fresh_dim();
  auto size = quotient(*data, others, at.symbols());
  if (!size)
    return propagate(size);
  return *size ? **size : at.symbols().fresh_dim();
}

// https://onnx.ai/onnx/operators/onnx__Reshape.html: 0 copies the axis unless allowzero, -1 follows
// from the others.
result<void> infer_reshape(inference& at) {
  const auto* data = at.dims(0);
  const auto content = at.elements(1);
  if (content.empty()) {
    at.set(0, at.type(0), at.sizes_in(1));
    return {};
  }
  const bool zero_is_zero = at.attributes().integer("allowzero", 0) != 0;
  symbolic_shape target;
  std::vector<std::size_t> unknown;
  std::optional<std::size_t> open;
  for (std::size_t axis = 0; axis < content.size(); ++axis) {
    const auto& next = content[axis];
    target.push_back(1);
    if (!next.is_known()) {
      unknown.push_back(axis);
    } else if (next == element{0} && !zero_is_zero) {
      if (data != nullptr && axis >= data->size())
        return fail(errc::invalid_argument,
                    "a size expected in axis {}, 0 found: {} has no such axis", axis,
                    at.graph_text(*data));
      target.back() = data == nullptr ? at.symbols().fresh_dim() : (*data)[axis];
    } else if (next == element{-1}) {
      if (open)
        return fail(errc::invalid_argument, "one size of -1 expected, two found");
      open = axis;
    } else if (next.is_number() && next.number() < 0) {
      return fail(errc::invalid_argument, "sizes of -1 or more expected, {} found", next.number());
    } else {
      target.back() = next.size();
    }
  }
  if (!open && unknown.size() == 1) {
    open = unknown.front(); // whatever it holds, the number of elements decides
    unknown.clear();
  }
  for (auto axis : unknown)
    target[axis] = at.symbols().fresh_dim();
  if (open) {
    auto size = open_size(at, target, *open);
    if (!size)
      return fail(errc::invalid_argument, "{} cannot be reshaped: {}",
                  data == nullptr ? "input 0" : at.graph_text(*data), size.error().text);
    target[*open] = *size;
  }
  const auto before = data == nullptr ? std::nullopt : concrete(*data);
  const auto after = concrete(target);
  if (before && after) {
    const auto count = checked_element_count(*after);
    if (!count || *count != element_count(*before))
      return fail(errc::invalid_argument, "a shape of {} elements expected for {}, {} found",
                  element_count(*before), at.graph_text(*data), at.graph_text(target));
  }
  at.set(0, at.type(0), std::move(target));
  return {};
}

constexpr std::array rules{
    infer_entry{"Reshape", 2, 2, 1, infer_reshape},
};

} // namespace

std::span<const infer_entry> reshape_rules() {
  return rules;
}

} // namespace troupe::graph
