#include "runtime/graph/infer/inference.hpp"

#include <array>
#include <optional>
#include <vector>

namespace troupe::graph {

namespace {

symbolic_shape reduced(const symbolic_shape& from, std::span<const std::size_t> axes, bool keep) {
  std::vector<bool> gone(from.size(), false);
  for (auto axis : axes)
    gone[axis] = true;
  symbolic_shape out;
  for (std::size_t axis = 0; axis < from.size(); ++axis)
    if (!gone[axis])
      out.push_back(from[axis]);
    else if (keep)
      out.push_back(1);
  return out;
}

// Reduce*: axes in an attribute (ReduceSum before 13, the others before 18), then in input 1.
result<void> infer_reduce(inference& at) {
  const auto* data = at.dims(0);
  const bool keep = at.attributes().integer("keepdims", 1) != 0;
  std::optional<std::vector<std::int64_t>> named = at.attributes().integers("axes");
  if (at.has(1))
    named = at.integers(1);
  if (data == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  if (!named) {
    at.set(0, at.type(0), keep ? std::optional{at.unknown(data->size())} : std::nullopt);
    return {};
  }
  if (named->empty()) {
    if (at.attributes().integer("noop_with_empty_axes", 0) != 0)
      return infer_same(at);
    for (std::size_t axis = 0; axis < data->size(); ++axis)
      named->push_back(static_cast<std::int64_t>(axis));
  }
  auto axes = inference::axes_in(*named, data->size());
  if (!axes)
    return propagate(axes);
  at.set(0, at.type(0), reduced(*data, *axes, keep));
  return {};
}

// ArgMax, ArgMin: one axis, indices.
result<void> infer_arg(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, dtype::int64, std::nullopt);
    return {};
  }
  auto axis = inference::axis_in(at.attributes().integer("axis", 0), data->size());
  if (!axis)
    return propagate(axis);
  const bool keep = at.attributes().integer("keepdims", 1) != 0;
  at.set(0, dtype::int64, reduced(*data, {&*axis, 1}, keep));
  return {};
}

constexpr std::array rules{
    infer_entry{"ArgMax", 1, 1, 1, infer_arg},
    infer_entry{"ArgMin", 1, 1, 1, infer_arg},
    infer_entry{"ReduceL1", 1, 2, 1, infer_reduce},
    infer_entry{"ReduceL2", 1, 2, 1, infer_reduce},
    infer_entry{"ReduceLogSum", 1, 2, 1, infer_reduce},
    infer_entry{"ReduceLogSumExp", 1, 2, 1, infer_reduce},
    infer_entry{"ReduceMax", 1, 2, 1, infer_reduce},
    infer_entry{"ReduceMean", 1, 2, 1, infer_reduce},
    infer_entry{"ReduceMin", 1, 2, 1, infer_reduce},
    infer_entry{"ReduceProd", 1, 2, 1, infer_reduce},
    infer_entry{"ReduceSum", 1, 2, 1, infer_reduce},
    infer_entry{"ReduceSumSquare", 1, 2, 1, infer_reduce},
};

} // namespace

std::span<const infer_entry> reduction_rules() {
  return rules;
}

} // namespace troupe::graph
