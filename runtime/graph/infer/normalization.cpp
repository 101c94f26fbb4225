#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/onnx_type.hpp"

#include <array>

namespace troupe::graph {

namespace {

// https://onnx.ai/onnx/operators/onnx__BatchNormalization.html. In training mode outputs 1 and 2
// are the statistics as the batch moved them; before opset 14 there were others, which nobody
// exports.
result<void> infer_batch_normalization(inference& at) {
  const bool training = at.version() >= 14 && at.attributes().integer("training_mode", 0) != 0;
  for (std::size_t output = 1; output < at.output_count(); ++output)
    if (at.wants(output) && (!training || output > 2))
      return fail(errc::unimplemented, "output {} exists in training mode only", output);
  const bool per_position = at.version() < 9 && at.attributes().integer("spatial", 1) == 0;
  if (const auto* data = at.dims(0); data != nullptr) {
    if (data->size() < 2)
      return fail(errc::invalid_argument, "input 0 of rank 2 or more expected, {} found",
                  at.graph_text(*data));
    for (std::size_t input = 1; input < 5; ++input) {
      if (auto good = at.expect_rank(input, per_position ? data->size() - 1 : 1); !good)
        return good;
      if (auto good = at.expect_size(input, 0, (*data)[1]); !good)
        return good;
    }
  }
  for (std::size_t output : {1U, 2U})
    at.set(output, at.type(output + 2),
           at.dims(output + 2) == nullptr ? std::nullopt : std::optional{*at.dims(output + 2)});
  return infer_same(at);
}

result<void> check_parameters(const inference& at, const symbolic_shape& data) {
  for (std::size_t input = 1; input < at.input_count(); ++input)
    if (const auto* dims = at.dims(input); dims != nullptr && concrete(*dims) && concrete(data))
      if (!broadcasts_into(*dims, data))
        return fail(errc::invalid_argument, "input {} that broadcasts into {} expected, {} found",
                    input, at.graph_text(data), at.graph_text(*dims));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__LayerNormalization.html: outputs 1 and 2 are of the type
// that statistics are computed in.
result<void> infer_layer_normalization(inference& at) {
  auto stash = dtype_of_onnx(at.attributes().integer("stash_type", 1));
  if (!stash)
    return propagate(stash);
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(1, *stash, std::nullopt);
    at.set(2, *stash, std::nullopt);
    return infer_same(at);
  }
  auto axis = inference::axis_in(at.attributes().integer("axis", -1), data->size());
  if (!axis)
    return propagate(axis);
  if (auto good = check_parameters(at, *data); !good)
    return good;
  auto reduced = *data;
  for (auto at_axis = *axis; at_axis < reduced.size(); ++at_axis)
    reduced[at_axis] = 1;
  at.set(1, *stash, reduced);
  at.set(2, *stash, reduced);
  return infer_same(at);
}

// https://onnx.ai/onnx/operators/onnx__RMSNormalization.html: the output has the scale's type.
result<void> infer_rms_normalization(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(1), std::nullopt);
    return {};
  }
  if (auto axis = inference::axis_in(at.attributes().integer("axis", -1), data->size()); !axis)
    return propagate(axis);
  if (auto good = check_parameters(at, *data); !good)
    return good;
  at.set(0, at.type(1), *data);
  return {};
}

// https://onnx.ai/onnx/operators/onnx__GroupNormalization.html: before opset 21 the parameters were
// those of groups, since then those of channels, as InstanceNormalization's are.
result<void> infer_group_normalization(inference& at) {
  const auto* data = at.dims(0);
  for (std::size_t input = 1; input < 3; ++input)
    if (auto good = at.expect_rank(input, 1); !good)
      return good;
  if (data == nullptr)
    return infer_same(at);
  if (data->size() < 2)
    return fail(errc::invalid_argument, "input 0 of rank 2 or more expected, {} found",
                at.graph_text(*data));
  auto parameters = (*data)[1];
  if (at.of().op_type == "GroupNormalization") {
    const auto groups = at.attributes().integer("num_groups", 0);
    if (groups < 1 || (parameters.known() && parameters.size() % groups != 0))
      return fail(errc::invalid_argument, "groups of the channels of {} expected, {} found",
                  at.graph_text(*data), groups);
    if (at.version() < 21)
      parameters = groups;
  }
  for (std::size_t input = 1; input < 3; ++input)
    if (auto good = at.expect_size(input, 0, parameters); !good)
      return good;
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
    infer_entry{"GroupNormalization", 3, 3, 1, infer_group_normalization},
    infer_entry{"Hardmax", 1, 1, 1, infer_along_axis},
    infer_entry{"InstanceNormalization", 3, 3, 1, infer_group_normalization},
    infer_entry{"LayerNormalization", 2, 3, 3, infer_layer_normalization},
    infer_entry{"LogSoftmax", 1, 1, 1, infer_along_axis},
    infer_entry{"LpNormalization", 1, 1, 1, infer_along_axis},
    infer_entry{"LRN", 1, 1, 1, infer_same},
    infer_entry{"MeanVarianceNormalization", 1, 1, 1, infer_same},
    infer_entry{"RMSNormalization", 2, 2, 1, infer_rms_normalization},
    infer_entry{"Softmax", 1, 1, 1, infer_along_axis},
};

} // namespace

std::span<const infer_entry> normalization_rules() {
  return rules;
}

} // namespace troupe::graph
