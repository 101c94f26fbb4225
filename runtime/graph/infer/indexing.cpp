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

result<void> infer_gather_elements(inference& at) {
  const auto* indices = at.dims(1);
  at.set(0, at.type(0), indices == nullptr ? std::nullopt : std::optional{*indices});
  return {};
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
  const auto content = at.elements(1);
  out[*axis] = at.symbols().fresh_dim();
  if (content.size() == 1 && content[0].is_number()) {
    const auto k = content[0].number();
    if (k < 0 || ((*data)[*axis].known() && k > (*data)[*axis].size()))
      return fail(errc::invalid_argument, "k of at most {} expected, {} found",
                  at.graph_text({&(*data)[*axis], 1}), k);
    out[*axis] = k;
  }
  at.set(0, at.type(0), out);
  at.set(1, dtype::int64, std::move(out));
  return {};
}

constexpr std::array rules{
    infer_entry{"CumSum", 2, 2, 1, infer_same},
    infer_entry{"Gather", 2, 2, 1, infer_gather},
    infer_entry{"GatherElements", 2, 2, 1, infer_gather_elements},
    infer_entry{"ScatterElements", 3, 3, 1, infer_same},
    infer_entry{"ScatterND", 3, 3, 1, infer_same},
    infer_entry{"TopK", 2, 2, 2, infer_top_k},
    infer_entry{"Trilu", 1, 2, 1, infer_same},
};

} // namespace

std::span<const infer_entry> indexing_rules() {
  return rules;
}

} // namespace troupe::graph
