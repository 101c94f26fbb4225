#include "runtime/graph/infer/inference.hpp"

#include <array>

namespace troupe::graph {

namespace {

// https://onnx.ai/onnx/operators/onnx__BatchNormalization.html at inference: output 0 alone.
result<void> infer_batch_normalization(inference& at) {
  for (std::size_t output = 1; output < at.output_count(); ++output)
    if (at.wants(output))
      return fail(errc::unimplemented, "output {} exists in training mode only", output);
  if (at.attributes().integer("training_mode", 0) != 0)
    return fail(errc::unimplemented, "training mode is not supported");
  if (const auto* data = at.dims(0); data != nullptr) {
    if (data->size() < 2)
      return fail(errc::invalid_argument, "input 0 of rank 2 or more expected, {} found",
                  at.graph_text(*data));
    for (std::size_t input = 1; input < 5; ++input) {
      if (auto good = at.expect_rank(input, 1); !good)
        return good;
      if (auto good = at.expect_size(input, 0, (*data)[1]); !good)
        return good;
    }
  }
  return infer_same(at);
}

// https://onnx.ai/onnx/operators/onnx__LayerNormalization.html: outputs 1 and 2 are float32.
result<void> infer_layer_normalization(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(1, dtype::float32, std::nullopt);
    at.set(2, dtype::float32, std::nullopt);
    return infer_same(at);
  }
  auto axis = inference::axis_in(at.attributes().integer("axis", -1), data->size());
  if (!axis)
    return propagate(axis);
  for (std::size_t input = 1; input < at.input_count(); ++input)
    if (const auto* dims = at.dims(input); dims != nullptr && concrete(*dims) && concrete(*data))
      if (!broadcasts_into(*dims, *data))
        return fail(errc::invalid_argument, "input {} that broadcasts into {} expected, {} found",
                    input, at.graph_text(*data), at.graph_text(*dims));
  auto reduced = *data;
  for (auto at_axis = *axis; at_axis < reduced.size(); ++at_axis)
    reduced[at_axis] = 1;
  at.set(1, dtype::float32, reduced);
  at.set(2, dtype::float32, reduced);
  return infer_same(at);
}

// Operators along one axis that keep their dims.
result<void> infer_along_axis(inference& at) {
  const auto* data = at.dims(0);
  const auto fallback = at.version() < 13 ? 1 : -1;
  if (data != nullptr && !data->empty() && at.attributes().has("axis"))
    if (auto axis = inference::axis_in(at.attributes().integer("axis", fallback), data->size());
        !axis)
      return propagate(axis);
  return infer_same(at);
}

constexpr std::array rules{
    infer_entry{"BatchNormalization", 5, 5, 5, infer_batch_normalization},
    infer_entry{"GroupNormalization", 3, 3, 1, infer_same},
    infer_entry{"Hardmax", 1, 1, 1, infer_along_axis},
    infer_entry{"InstanceNormalization", 3, 3, 1, infer_same},
    infer_entry{"LayerNormalization", 2, 3, 3, infer_layer_normalization},
    infer_entry{"LogSoftmax", 1, 1, 1, infer_along_axis},
    infer_entry{"LpNormalization", 1, 1, 1, infer_along_axis},
    infer_entry{"LRN", 1, 1, 1, infer_same},
    infer_entry{"MeanVarianceNormalization", 1, 1, 1, infer_same},
    infer_entry{"RMSNormalization", 2, 2, 1, infer_along_axis},
    infer_entry{"Softmax", 1, 1, 1, infer_along_axis},
};

} // namespace

std::span<const infer_entry> normalization_rules() {
  return rules;
}

} // namespace troupe::graph
