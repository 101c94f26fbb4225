#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/infer/window.hpp"

#include <array>

namespace troupe::graph {

namespace {

result<void> check_rank(const inference& at) {
  if (at.dims(0)->size() < 3)
    return fail(errc::invalid_argument, "input 0 of rank 3 or more expected, {} found",
                at.graph_text(*at.dims(0)));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__MaxPool.html: output 1 holds indices.
result<void> infer_pool(inference& at) {
  if (at.dims(0) == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    at.set(1, dtype::int64, std::nullopt);
    return {};
  }
  if (auto good = check_rank(at); !good)
    return good;
  const auto& data = *at.dims(0);
  auto kernel = at.attributes().integers("kernel_shape");
  if (kernel.size() + 2 != data.size())
    return fail(errc::invalid_argument, "kernel_shape with {} sizes expected, {} found",
                data.size() - 2, to_string(kernel));
  auto over = read_window(at, std::move(kernel));
  if (!over)
    return propagate(over);
  symbolic_shape out{data[0], data[1]};
  for (std::size_t axis = 0; axis < over->kernel.size(); ++axis) {
    auto size = positions(*over, axis, data[axis + 2], at.symbols());
    if (!size)
      return propagate(size);
    out.push_back(*size);
  }
  at.set(0, at.type(0), out);
  at.set(1, dtype::int64, std::move(out));
  return {};
}

result<void> infer_global_pool(inference& at) {
  if (at.dims(0) == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  if (auto good = check_rank(at); !good)
    return good;
  auto out = *at.dims(0);
  for (std::size_t axis = 2; axis < out.size(); ++axis)
    out[axis] = 1;
  at.set(0, at.type(0), std::move(out));
  return {};
}

constexpr std::array rules{
    infer_entry{"AveragePool", 1, 1, 1, infer_pool},
    infer_entry{"GlobalAveragePool", 1, 1, 1, infer_global_pool},
    infer_entry{"GlobalLpPool", 1, 1, 1, infer_global_pool},
    infer_entry{"GlobalMaxPool", 1, 1, 1, infer_global_pool},
    infer_entry{"LpPool", 1, 1, 1, infer_pool},
    infer_entry{"MaxPool", 1, 1, 2, infer_pool},
    infer_entry{"SqueezeExcite", 5, 5, 1, infer_same, "troupe"},
};

} // namespace

std::span<const infer_entry> pooling_rules() {
  return rules;
}

} // namespace troupe::graph
