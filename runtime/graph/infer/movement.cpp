#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/infer/slice_bounds.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace troupe::graph {

namespace {

result<void> infer_transpose(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  auto perm = at.attributes().integers("perm");
  if (!at.attributes().has("perm"))
    for (auto axis = data->size(); axis-- > 0;)
      perm.push_back(static_cast<std::int64_t>(axis));
  auto axes = inference::axes_in(perm, data->size());
  if (!axes || axes->size() != data->size())
    return fail(errc::invalid_argument, "perm that orders {} axes expected, {} found", data->size(),
                to_string(perm));
  symbolic_shape out;
  for (auto axis : *axes)
    out.push_back((*data)[axis]);
  at.set(0, at.type(0), std::move(out));
  return {};
}

// Sizes beside the joined axis must agree: a number says more than a symbol.
result<void> agree(inference& at, symbolic_shape& so_far, std::size_t input, std::size_t joined) {
  const auto& next = *at.dims(input);
  for (std::size_t axis = 0; axis < next.size(); ++axis) {
    if (axis == joined || !next[axis].known())
      continue;
    if (so_far[axis].known() && so_far[axis] != next[axis])
      return fail(errc::invalid_argument, "input {} as {} but for axis {} expected, {} found",
                  input, at.graph_text(so_far), joined, at.graph_text(next));
    so_far[axis] = next[axis];
  }
  return {};
}

result<void> infer_concat(inference& at) {
  if (!at.attributes().has("axis"))
    return fail(errc::invalid_argument, "attribute axis expected, none found");
  std::vector<dim> sizes;
  symbolic_shape out;
  std::size_t axis = 0;
  for (std::size_t input = 0; input < at.input_count(); ++input) {
    if (auto good = at.same_type(input); !good)
      return good;
    const auto* dims = at.dims(input);
    if (dims == nullptr) {
      at.set(0, at.type(0), std::nullopt);
      return {};
    }
    if (input == 0) {
      auto found = inference::axis_in(at.attributes().integer("axis", 0), dims->size());
      if (!found)
        return propagate(found);
      axis = *found;
      out = *dims;
    }
    if (auto good = at.expect_rank(input, out.size()); !good)
      return good;
    if (auto good = agree(at, out, input, axis); !good)
      return good;
    sizes.push_back((*dims)[axis]);
  }
  auto all = sum(sizes, at.symbols());
  if (!all)
    return propagate(all);
  out[axis] = *all;
  at.set(0, at.type(0), std::move(out));
  return {};
}

result<void> infer_slice(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  auto bounds = slice_bounds_of(at);
  if (!bounds)
    return propagate(bounds);
  if (!*bounds) {
    at.set(0, at.type(0), at.unknown(data->size()));
    return {};
  }
  auto out = *data;
  for (const auto& cut : **bounds)
    out[cut.axis] = slice_size(cut, out[cut.axis], at.symbols());
  at.set(0, at.type(0), std::move(out));
  return {};
}

// Sizes of the parts: an attribute before opset 13, input 1 then; else equal parts, and since opset
// 18 a smaller last one.
result<std::vector<dim>> split_sizes(inference& at, dim whole) {
  const auto parts = at.output_count();
  auto named = std::optional{at.attributes().integers("split")};
  if (at.has(1)) {
    named = at.integers(1);
    if (!named) {
      auto unknown = at.unknown(parts);
      return std::vector<dim>{unknown.begin(), unknown.end()};
    }
  }
  if (named->empty()) {
    if (!whole.known()) {
      auto part = floor_affine(whole, 1, static_cast<std::int64_t>(parts) - 1,
                               static_cast<std::int64_t>(parts), at.symbols());
      if (!part)
        return propagate(part);
      std::vector<dim> equal(parts, *part);
      if (at.version() >= 18)
        equal.back() = at.symbols().fresh_dim();
      return equal;
    }
    const auto count = static_cast<std::int64_t>(parts);
    const auto part = (whole.size() + count - 1) / count;
    const auto last = whole.size() - part * (count - 1);
    if (last < 0 || (at.version() < 18 && last != part))
      return fail(errc::invalid_argument, "a size that splits into {} expected, {} found", parts,
                  whole.size());
    std::vector<dim> equal(parts, part);
    equal.back() = last;
    return equal;
  }
  const bool negative = std::ranges::any_of(*named, [](auto size) { return size < 0; });
  if (named->size() != parts || negative)
    return fail(errc::invalid_argument, "split with {} sizes expected, {} found", parts,
                to_string(*named));
  std::int64_t total = 0;
  for (auto size : *named)
    if (__builtin_add_overflow(total, size, &total))
      return fail(errc::invalid_argument, "split sizes {} are too large", to_string(*named));
  if (whole.known() && total != whole.size())
    return fail(errc::invalid_argument, "split sizes that sum to {} expected, {} found",
                whole.size(), to_string(*named));
  return std::vector<dim>{named->begin(), named->end()};
}

result<void> infer_split(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    for (std::size_t output = 0; output < at.output_count(); ++output)
      at.set(output, at.type(0), std::nullopt);
    return {};
  }
  auto axis = inference::axis_in(at.attributes().integer("axis", 0), data->size());
  if (!axis)
    return propagate(axis);
  if (at.attributes().integer("num_outputs", static_cast<std::int64_t>(at.output_count()))
      != static_cast<std::int64_t>(at.output_count()))
    return fail(errc::invalid_argument, "num_outputs {} expected, {} outputs found",
                at.attributes().integer("num_outputs", 0), at.output_count());
  auto sizes = split_sizes(at, (*data)[*axis]);
  if (!sizes)
    return propagate(sizes);
  for (std::size_t output = 0; output < at.output_count(); ++output) {
    auto part = *data;
    part[*axis] = (*sizes)[output];
    at.set(output, at.type(0), std::move(part));
  }
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Pad.html: pads in an attribute before opset 11, then input
// 1; axes in input 3 since 18.
result<void> infer_pad(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  auto pads = std::optional{at.attributes().integers("pads")};
  if (at.has(1))
    pads = at.integers(1);
  std::vector<std::int64_t> named(data->size());
  std::iota(named.begin(), named.end(), 0);
  const auto given = at.has(3) ? at.integers(3) : std::optional{named};
  if (!pads || !given) {
    at.set(0, at.type(0), at.unknown(data->size()));
    return {};
  }
  auto axes = inference::axes_in(*given, data->size());
  if (!axes)
    return propagate(axes);
  constexpr std::int64_t largest = std::int64_t{1} << 40;
  const auto huge = [](auto pad) { return pad < -largest || pad > largest; };
  if (pads->size() != 2 * axes->size() || std::ranges::any_of(*pads, huge))
    return fail(errc::invalid_argument, "{} pads expected, {} found", 2 * axes->size(),
                to_string(*pads));
  auto out = *data;
  for (std::size_t index = 0; index < axes->size(); ++index) {
    auto size = floor_affine(out[(*axes)[index]], 1, (*pads)[index] + (*pads)[index + axes->size()],
                             1, at.symbols());
    if (!size)
      return propagate(size);
    out[(*axes)[index]] = *size;
  }
  at.set(0, at.type(0), std::move(out));
  return {};
}

result<void> infer_tile(inference& at) {
  const auto* data = at.dims(0);
  const auto repeats = at.integers(1);
  if (data == nullptr || !repeats) {
    at.set(0, at.type(0), data == nullptr ? std::nullopt : std::optional{at.unknown(data->size())});
    return {};
  }
  if (repeats->size() != data->size())
    return fail(errc::invalid_argument, "{} repeats expected, {} found", data->size(),
                to_string(*repeats));
  auto out = *data;
  for (std::size_t axis = 0; axis < out.size(); ++axis) {
    auto size = floor_affine(out[axis], (*repeats)[axis], 0, 1, at.symbols());
    if (!size)
      return propagate(size);
    out[axis] = *size;
  }
  at.set(0, at.type(0), std::move(out));
  return {};
}

constexpr std::array rules{
    infer_entry{"Concat", 1, any_number, 1, infer_concat},
    infer_entry{"Pad", 1, 4, 1, infer_pad},
    infer_entry{"Reorder", 1, 1, 1, infer_same, "troupe"},
    infer_entry{"Slice", 1, 5, 1, infer_slice},
    infer_entry{"Split", 1, 2, any_number, infer_split},
    infer_entry{"Tile", 2, 2, 1, infer_tile},
    infer_entry{"Transpose", 1, 1, 1, infer_transpose},
};

} // namespace

std::span<const infer_entry> movement_rules() {
  return rules;
}

} // namespace troupe::graph
