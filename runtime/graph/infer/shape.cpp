#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/infer/scalar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace troupe::graph {

namespace {

result<void> check_no_negative(inference& at, std::size_t input) {
  for (const auto& next : at.elements(input))
    if (next.is_number() && next.number() < 0)
      return fail(errc::invalid_argument, "sizes of 0 or more expected in input {}, {} found",
                  input, next.number());
  return {};
}

// Axes of Squeeze and Unsqueeze: an attribute before opset 13, then input 1. Null: not known.
std::optional<std::vector<std::int64_t>> named_axes(const inference& at) {
  if (at.has(1))
    return at.integers(1);
  return at.attributes().integers("axes");
}

result<void> infer_squeeze(inference& at) {
  const auto* data = at.dims(0);
  const auto named = named_axes(at);
  if (data == nullptr || !named) {
    const auto length = at.length(1);
    const bool counted =
        data != nullptr && length && *length <= static_cast<std::int64_t>(data->size());
    at.set(0, at.type(0),
           counted ? std::optional{at.unknown(data->size() - static_cast<std::size_t>(*length))}
                   : std::nullopt);
    return {};
  }
  std::vector<bool> gone(data->size(), false);
  if (named->empty()) {
    if (!concrete(*data)) {
      at.set(0, at.type(0), std::nullopt);
      return {};
    }
    for (std::size_t axis = 0; axis < data->size(); ++axis)
      gone[axis] = (*data)[axis] == dim{1};
  }
  auto axes = inference::axes_in(*named, data->size());
  if (!axes)
    return propagate(axes);
  for (auto axis : *axes) {
    if ((*data)[axis].known() && (*data)[axis] != dim{1})
      return fail(errc::invalid_argument, "a size of 1 in axis {} expected, {} found", axis,
                  at.graph_text(*data));
    gone[axis] = true;
  }
  symbolic_shape out;
  for (std::size_t axis = 0; axis < data->size(); ++axis)
    if (!gone[axis])
      out.push_back((*data)[axis]);
  at.set(0, at.type(0), std::move(out));
  return {};
}

result<void> infer_unsqueeze(inference& at) {
  const auto* data = at.dims(0);
  const auto named = named_axes(at);
  if (data == nullptr || !named) {
    const auto length = at.length(1);
    const bool counted = data != nullptr && length && *length <= max_tracked_elements;
    at.set(0, at.type(0),
           counted ? std::optional{at.unknown(data->size() + static_cast<std::size_t>(*length))}
                   : std::nullopt);
    return {};
  }
  const auto rank = data->size() + named->size();
  auto axes = inference::axes_in(*named, rank);
  if (!axes)
    return propagate(axes);
  std::vector<bool> added(rank, false);
  for (auto axis : *axes)
    added[axis] = true;
  symbolic_shape out;
  std::size_t from = 0;
  for (std::size_t axis = 0; axis < rank; ++axis)
    out.push_back(added[axis] ? dim{1} : (*data)[from++]);
  at.set(0, at.type(0), std::move(out));
  return {};
}

result<void> infer_flatten(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(0), at.unknown(2));
    return {};
  }
  const auto rank = static_cast<std::int64_t>(data->size());
  const auto axis = at.attributes().integer("axis", 1);
  if (axis < -rank || axis > rank)
    return fail(errc::invalid_argument, "axis in [{}, {}] expected, {} found", -rank, rank, axis);
  const auto split = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::span<const dim> all{*data};
  auto rows = product(all.first(split), at.symbols());
  auto columns = product(all.subspan(split), at.symbols());
  if (!rows || !columns)
    return propagate(rows ? columns : rows);
  at.set(0, at.type(0), symbolic_shape{*rows, *columns});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Shape.html; start and end since opset 15, clamped.
result<void> infer_shape(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, dtype::int64, at.unknown(1));
    return {};
  }
  const auto rank = static_cast<std::int64_t>(data->size());
  const auto bound = [&](const char* name, std::int64_t fallback) {
    const auto value = at.attributes().integer(name, fallback);
    return std::clamp<std::int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  std::vector<element> sizes;
  const auto end = bound("end", rank);
  for (auto axis = bound("start", 0); axis < end; ++axis)
    sizes.emplace_back((*data)[static_cast<std::size_t>(axis)]);
  at.set(0, dtype::int64, symbolic_shape{static_cast<std::int64_t>(sizes.size())});
  at.set_elements(0, std::move(sizes));
  return {};
}

result<void> infer_size(inference& at) {
  at.set(0, dtype::int64, symbolic_shape{});
  if (const auto* data = at.dims(0); data != nullptr) {
    auto all = product(*data, at.symbols());
    if (!all)
      return propagate(all);
    at.set_elements(0, {element{*all}});
  }
  return {};
}

result<void> infer_expand(inference& at) {
  if (auto good = check_no_negative(at, 1); !good)
    return good;
  const auto* data = at.dims(0);
  const auto wanted = at.sizes_in(1);
  if (data == nullptr || !wanted) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  auto out = broadcast(*data, *wanted, at.symbols());
  if (!out)
    return propagate(out);
  at.set(0, at.type(0), std::move(*out));
  return {};
}

result<void> infer_constant_of_shape(inference& at) {
  if (auto good = check_no_negative(at, 0); !good)
    return good;
  const auto* value = at.attributes().find<tensor>("value");
  auto sizes = at.sizes_in(0);
  if (at.length(0) == 0)
    sizes = symbolic_shape{};
  at.set(0, value != nullptr ? value->type : dtype::float32, std::move(sizes));
  return {};
}

result<void> infer_range(inference& at) {
  const auto start = scalar_in(at, 0);
  const auto limit = scalar_in(at, 1);
  const auto step = scalar_in(at, 2);
  if (!start || !limit || !step) {
    const auto sizes = at.elements(1); // counting from 0 to a size: as many as that
    const bool counts = start == 0.0 && step == 1.0 && sizes.size() == 1 && sizes[0].is_known();
    at.set(0, at.type(0), counts ? symbolic_shape{sizes[0].size()} : at.unknown(1));
    return {};
  }
  const auto count = std::ceil((*limit - *start) / *step);
  if (*step == 0 || !(count < 0x1p40))
    return fail(errc::invalid_argument, "a finite range expected, {} to {} by {} found", *start,
                *limit, *step);
  at.set(0, at.type(0), symbolic_shape{static_cast<std::int64_t>(std::max(count, 0.0))});
  return {};
}

constexpr std::array rules{
    infer_entry{"ConstantOfShape", 1, 1, 1, infer_constant_of_shape},
    infer_entry{"Expand", 2, 2, 1, infer_expand},
    infer_entry{"Flatten", 1, 1, 1, infer_flatten},
    infer_entry{"Range", 3, 3, 1, infer_range},
    infer_entry{"Shape", 1, 1, 1, infer_shape},
    infer_entry{"Size", 1, 1, 1, infer_size},
    infer_entry{"Squeeze", 1, 2, 1, infer_squeeze},
    infer_entry{"Unsqueeze", 1, 2, 1, infer_unsqueeze},
};

} // namespace

std::span<const infer_entry> shape_rules() {
  return rules;
}

} // namespace troupe::graph
