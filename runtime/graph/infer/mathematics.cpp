#include "kernels/op/einsum.hpp"
#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/onnx_type.hpp"

#include <array>
#include <map>

namespace troupe::graph {

namespace {

// https://onnx.ai/onnx/operators/onnx__Einsum.html
result<void> infer_einsum(inference& at) {
  std::vector<std::size_t> ranks;
  for (std::size_t input = 0; input < at.input_count(); ++input) {
    if (auto good = at.same_type(input); !good)
      return good;
    if (at.dims(input) == nullptr) {
      at.set(0, at.type(0), std::nullopt);
      return {};
    }
    ranks.push_back(at.dims(input)->size());
  }
  auto parsed = parse_einsum(at.attributes().text("equation"), ranks);
  if (!parsed)
    return propagate(parsed);
  std::map<int, dim> sizes;
  for (std::size_t input = 0; input < ranks.size(); ++input)
    for (std::size_t axis = 0; axis < ranks[input]; ++axis) {
      const int label = parsed->inputs[input][axis];
      const auto size = (*at.dims(input))[axis];
      auto [known, first] = sizes.try_emplace(label, size);
      if (first)
        continue;
      if (from_ellipsis(label)) {
        auto both = broadcast(known->second, size, at.symbols());
        if (!both)
          return propagate(both);
        known->second = *both;
      } else if (auto good = at.expect_size(input, axis, known->second); !good) {
        return good;
      } else if (size.known()) {
        known->second = size;
      }
    }
  symbolic_shape out;
  for (const int label : parsed->output)
    out.push_back(sizes.at(label));
  at.set(0, at.type(0), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Det.html
result<void> infer_det(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  if (data->size() < 2)
    return fail(errc::invalid_argument, "matrices expected, {} found", at.graph_text(*data));
  if (auto good = at.expect_size(0, data->size() - 1, (*data)[data->size() - 2]); !good)
    return good;
  at.set(0, at.type(0), symbolic_shape{data->begin(), data->end() - 2});
  return {};
}

// The size that a scalar input holds, if it is one and known.
dim size_in(inference& at, std::size_t input) {
  const auto content = at.elements(input);
  const bool known = content.size() == 1 && content[0].is_known()
                     && !(content[0].is_number() && content[0].number() < 0);
  return known ? content[0].size() : at.symbols().fresh_dim();
}

result<dtype> output_type(const inference& at) {
  return dtype_of_onnx(at.attributes().integer("output_datatype", 1));
}

// https://onnx.ai/onnx/operators/onnx__HannWindow.html and its like
result<void> infer_window_of_signal(inference& at) {
  auto type = output_type(at);
  if (!type)
    return propagate(type);
  at.set(0, *type, symbolic_shape{size_in(at, 0)});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__MelWeightMatrix.html
result<void> infer_mel_weights(inference& at) {
  auto type = output_type(at);
  if (!type)
    return propagate(type);
  auto bins = floor_affine(size_in(at, 1), 1, 2, 2, at.symbols());
  if (!bins)
    return propagate(bins);
  at.set(0, *type, symbolic_shape{*bins, size_in(at, 0)});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__DFT.html: before opset 20 the axis was an attribute.
result<void> infer_dft(inference& at) {
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  std::optional<std::int64_t> written = at.attributes().integer("axis", 1);
  if (at.version() >= 20)
    written = -2;
  if (at.has(2)) {
    const auto given = at.integers(2);
    written = given && given->size() == 1 ? std::optional{given->front()} : std::nullopt;
  }
  auto out = *data;
  if (!written) {
    at.set(0, at.type(0), at.unknown(data->size()));
    return {};
  }
  auto axis = inference::axis_in(*written, data->size());
  if (!axis)
    return propagate(axis);
  if (*axis + 1 == data->size())
    return fail(errc::invalid_argument, "an axis before the last of {} expected, {} found",
                at.graph_text(*data), *written);
  const bool inverse = at.attributes().integer("inverse", 0) != 0;
  const bool onesided = at.attributes().integer("onesided", 0) != 0;
  auto length = at.has(1)             ? result<dim>{size_in(at, 1)}
                : inverse && onesided ? floor_affine(out[*axis], 2, -2, 1, at.symbols())
                                      : result<dim>{out[*axis]};
  if (length && onesided && !inverse)
    length = floor_affine(*length, 1, 2, 2, at.symbols());
  if (!length)
    return propagate(length);
  out[*axis] = *length;
  out.back() = inverse && onesided ? 1 : 2;
  at.set(0, at.type(0), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__STFT.html
result<void> infer_stft(inference& at) {
  if (auto good = at.expect_rank(0, 3); !good)
    return good;
  const auto* data = at.dims(0);
  if (data == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  const auto* window = at.dims(2);
  const auto length = at.has(3)                               ? size_in(at, 3)
                      : window != nullptr && !window->empty() ? window->front()
                      : at.has(2)                             ? at.symbols().fresh_dim()
                                                              : (*data)[1];
  const auto step = at.integers(1);
  dim frames = at.symbols().fresh_dim();
  if (step && step->size() == 1 && length.known()) {
    if (step->front() < 1)
      return fail(errc::invalid_argument, "a step of 1 or more expected, {} found", step->front());
    auto counted =
        floor_affine((*data)[1], 1, step->front() - length.size(), step->front(), at.symbols());
    if (!counted)
      return propagate(counted);
    frames = *counted;
  }
  auto bins = result<dim>{length};
  if (at.attributes().integer("onesided", 1) != 0)
    bins = floor_affine(length, 1, 2, 2, at.symbols());
  if (!bins)
    return propagate(bins);
  at.set(0, at.type(0), symbolic_shape{(*data)[0], frames, *bins, 2});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__NegativeLogLikelihoodLoss.html and
// https://onnx.ai/onnx/operators/onnx__SoftmaxCrossEntropyLoss.html
result<void> infer_loss(inference& at) {
  const auto* data = at.dims(0);
  const auto* targets = at.dims(1);
  if (data != nullptr)
    at.set(1, at.type(0), *data);
  else
    at.set(1, at.type(0), std::nullopt);
  if (at.attributes().text("reduction", "mean") != "none") {
    at.set(0, at.type(0), symbolic_shape{});
    return {};
  }
  at.set(0, at.type(0), targets == nullptr ? std::nullopt : std::optional{*targets});
  return {};
}

constexpr std::array rules{
    infer_entry{"BlackmanWindow", 1, 1, 1, infer_window_of_signal},
    infer_entry{"DFT", 1, 3, 1, infer_dft},
    infer_entry{"Det", 1, 1, 1, infer_det},
    infer_entry{"Einsum", 1, any_number, 1, infer_einsum},
    infer_entry{"HammingWindow", 1, 1, 1, infer_window_of_signal},
    infer_entry{"HannWindow", 1, 1, 1, infer_window_of_signal},
    infer_entry{"MelWeightMatrix", 5, 5, 1, infer_mel_weights},
    infer_entry{"NegativeLogLikelihoodLoss", 2, 3, 1, infer_loss},
    infer_entry{"STFT", 2, 4, 1, infer_stft},
    infer_entry{"SoftmaxCrossEntropyLoss", 2, 3, 2, infer_loss},
};

} // namespace

std::span<const infer_entry> mathematics_rules() {
  return rules;
}

} // namespace troupe::graph
