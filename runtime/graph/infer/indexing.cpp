#include "runtime/graph/infer/inference.hpp"

#include <array>

namespace troupe::graph {

namespace {

// https://onnx.ai/onnx/operators/onnx__Gather.html
result<void> infer_gather(inference& at) {
  const auto* data = at.dims(0);
  const auto* indices = at.dims(1);
  if (data == nullptr || indices == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  auto axis = inference::axis_in(at.attributes().integer("axis", 0), data->size());
  if (!axis)
    return propagate(axis);
  symbolic_shape out{data->begin(), data->begin() + static_cast<std::ptrdiff_t>(*axis)};
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), data->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data->end());
  at.set(0, at.type(0), std::move(out));
  return {};
}

// As many axes as the data, and none longer than its, but for the one along which is chosen.
result<void> check_element_indices(inference& at) {
  const auto* data = at.dims(0);
  const auto* indices = at.dims(1);
  if (data == nullptr || indices == nullptr)
    return {};
  const auto axis = inference::axis_in(at.attributes().integer("axis", 0), data->size());
  if (!axis)
    return propagate(axis);
  if (auto good = at.expect_rank(1, data->size()); !good)
    return good;
  for (std::size_t other = 0; other < data->size(); ++other)
    if (other != *axis && (*data)[other].known() && (*indices)[other].known()
        && (*indices)[other].size() > (*data)[other].size())
      return fail(errc::invalid_argument, "indices within {} expected, {} found",
                  at.graph_text(*data), at.graph_text(*indices));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__GatherElements.html
result<void> infer_gather_elements(inference& at) {
  if (auto good = check_element_indices(at); !good)
    return good;
  const auto* indices = at.dims(1);
  at.set(0, at.type(0), indices == nullptr ? std::nullopt : std::optional{*indices});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__ScatterElements.html
result<void> infer_scatter_elements(inference& at) {
  if (auto good = check_element_indices(at); !good)
    return good;
  if (auto good = at.same_type(2); !good)
    return good;
  const auto* indices = at.dims(1);
  if (indices != nullptr) {
    if (auto good = at.expect_rank(2, indices->size()); !good)
      return good;
    for (std::size_t axis = 0; axis < indices->size(); ++axis)
      if (auto good = at.expect_size(2, axis, (*indices)[axis]); !good)
        return good;
  }
  return infer_same(at);
}

// The axes of the data that a tuple of indices leaves: those of the slices it names.
result<std::optional<symbolic_shape>> sliced(inference& at, std::size_t batched) {
  const auto* data = at.dims(0);
  const auto* indices = at.dims(1);
  using answer = std::optional<symbolic_shape>;
  if (data == nullptr || indices == nullptr)
    return answer{};
  if (indices->size() <= batched || data->size() < batched)
    return fail(errc::invalid_argument, "indices of more than {} axes expected, {} found", batched,
                at.graph_text(*indices));
  if (!indices->back().known())
    return answer{};
  const auto depth = indices->back().size();
  if (depth < 1 || depth > static_cast<std::int64_t>(data->size() - batched))
    return fail(errc::invalid_argument, "tuples of 1 to {} indices expected, {} found",
                data->size() - batched, depth);
  const auto kept = data->begin() + static_cast<std::ptrdiff_t>(batched) + depth;
  return answer{symbolic_shape{kept, data->end()}};
}

// https://onnx.ai/onnx/operators/onnx__GatherND.html
result<void> infer_gather_nd(inference& at) {
  const auto batched = at.attributes().integer("batch_dims", 0);
  if (batched < 0)
    return fail(errc::invalid_argument, "batch_dims of 0 or more expected, {} found", batched);
  auto slice = sliced(at, static_cast<std::size_t>(batched));
  if (!slice)
    return propagate(slice);
  if (!*slice) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(batched); ++axis)
    if (auto good = at.expect_size(1, axis, (*at.dims(0))[axis]); !good)
      return good;
  symbolic_shape out{at.dims(1)->begin(), at.dims(1)->end() - 1};
  out.insert(out.end(), (*slice)->begin(), (*slice)->end());
  at.set(0, at.type(0), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__ScatterND.html
result<void> infer_scatter_nd(inference& at) {
  if (auto good = at.same_type(2); !good)
    return good;
  auto slice = sliced(at, 0);
  if (!slice)
    return propagate(slice);
  if (*slice && at.dims(2) != nullptr) {
    symbolic_shape expected{at.dims(1)->begin(), at.dims(1)->end() - 1};
    expected.insert(expected.end(), (*slice)->begin(), (*slice)->end());
    if (auto good = at.expect_rank(2, expected.size()); !good)
      return good;
    for (std::size_t axis = 0; axis < expected.size(); ++axis)
      if (auto good = at.expect_size(2, axis, expected[axis]); !good)
        return good;
  }
  return infer_same(at);
}

// How many are kept: an attribute before opset 10, then input 1, known or a size on its way.
element kept(const inference& at) {
  if (at.version() < 10)
    return at.attributes().integer("k", -1);
  const auto content = at.elements(1);
  return content.size() == 1 ? content[0] : element{};
}

// https://onnx.ai/onnx/operators/onnx__TopK.html: k is in input 1 since opset 10.
result<void> infer_top_k(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    at.set(1, dtype::int64, std::nullopt);
    return {};
  }
  auto axis = inference::axis_in(at.attributes().integer("axis", -1), data->size());
  if (!axis)
    return propagate(axis);
  auto out = *data;
  const auto wanted = kept(at);
  out[*axis] = at.symbols().fresh_dim();
  if (wanted.is_number()) {
    const auto k = wanted.number();
    if (k < 0 || ((*data)[*axis].known() && k > (*data)[*axis].size()))
      return fail(errc::invalid_argument, "k of at most {} expected, {} found",
                  at.graph_text({&(*data)[*axis], 1}), k);
    out[*axis] = k;
  } else if (wanted.is_known()) {
    out[*axis] = wanted.size();
  }
  at.set(0, at.type(0), out);
  at.set(1, dtype::int64, std::move(out));
  return {};
}

constexpr std::array rules{
    infer_entry{"CumProd", 2, 2, 1, infer_same},
    infer_entry{"CumSum", 2, 2, 1, infer_same},
    infer_entry{"Gather", 2, 2, 1, infer_gather},
    infer_entry{"GatherElements", 2, 2, 1, infer_gather_elements},
    infer_entry{"GatherND", 2, 2, 1, infer_gather_nd},
    infer_entry{"Scatter", 3, 3, 1, infer_scatter_elements},
    infer_entry{"ScatterElements", 3, 3, 1, infer_scatter_elements},
    infer_entry{"ScatterND", 3, 3, 1, infer_scatter_nd},
    infer_entry{"TopK", 1, 2, 2, infer_top_k},
    infer_entry{"Trilu", 1, 2, 1, infer_same},
};

} // namespace

std::span<const infer_entry> indexing_rules() {
  return rules;
}

} // namespace troupe::graph
