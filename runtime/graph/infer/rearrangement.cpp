// Operators that place elements anew: blocks, batches of sequences, one-hot vectors.

#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/infer/scalar.hpp"
#include "runtime/graph/onnx_type.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace troupe::graph {

namespace {

result<void> infer_type_only(inference& at) {
  at.set(0, at.type(0), std::nullopt);
  return {};
}

result<std::int64_t> block_size(const inference& at) {
  const auto size = at.attributes().integer("blocksize", 0);
  if (size < 1 || size > 1 << 20)
    return fail(errc::invalid_argument, "blocksize in [1, {}] expected, {} found", 1 << 20, size);
  if (at.dims(0) != nullptr && at.dims(0)->size() != 4)
    return fail(errc::invalid_argument, "input 0 of rank 4 expected, {} found",
                at.graph_text(*at.dims(0)));
  return size;
}

result<dim> divided(inference& at, dim size, std::int64_t by) {
  if (size.known() && size.size() % by != 0)
    return fail(errc::invalid_argument, "a size divisible by {} expected, {} found", by,
                size.size());
  return floor_affine(size, 1, 0, by, at.symbols());
}

// https://onnx.ai/onnx/operators/onnx__DepthToSpace.html
result<void> infer_depth_to_space(inference& at) {
  const auto block = block_size(at);
  if (!block)
    return propagate(block);
  if (at.dims(0) == nullptr)
    return infer_type_only(at);
  auto out = *at.dims(0);
  auto channels = divided(at, out[1], *block * *block);
  auto height = floor_affine(out[2], *block, 0, 1, at.symbols());
  auto width = floor_affine(out[3], *block, 0, 1, at.symbols());
  for (const auto* size : {&channels, &height, &width})
    if (!*size)
      return propagate(*size);
  at.set(0, at.type(0), symbolic_shape{out[0], *channels, *height, *width});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__SpaceToDepth.html
result<void> infer_space_to_depth(inference& at) {
  const auto block = block_size(at);
  if (!block)
    return propagate(block);
  if (at.dims(0) == nullptr)
    return infer_type_only(at);
  auto out = *at.dims(0);
  auto channels = floor_affine(out[1], *block * *block, 0, 1, at.symbols());
  auto height = divided(at, out[2], *block);
  auto width = divided(at, out[3], *block);
  for (const auto* size : {&channels, &height, &width})
    if (!*size)
      return propagate(*size);
  at.set(0, at.type(0), symbolic_shape{out[0], *channels, *height, *width});
  return {};
}

// What the new axis of OneHot is long: `depth` may have any numeric type.
result<dim> depth_of(inference& at) {
  if (const auto content = at.elements(1);
      content.size() == 1 && content[0].is_known() && !content[0].is_number())
    return content[0].size();
  const auto depth = scalar_in(at, 1);
  if (!depth)
    return at.symbols().fresh_dim();
  if (!(*depth >= 0 && *depth < 0x1p40))
    return fail(errc::invalid_argument, "a depth of 0 or more expected, {} found", *depth);
  return dim{static_cast<std::int64_t>(*depth)};
}

// https://onnx.ai/onnx/operators/onnx__OneHot.html
result<void> infer_one_hot(inference& at) {
  auto depth = depth_of(at);
  if (!depth)
    return propagate(depth);
  if (const auto length = at.length(2); length && *length != 2)
    return fail(errc::invalid_argument, "two values expected, {} found", *length);
  if (at.dims(0) == nullptr) {
    at.set(0, at.type(2), std::nullopt);
    return {};
  }
  auto out = *at.dims(0);
  const auto axis = inference::axis_in(at.attributes().integer("axis", -1), out.size() + 1);
  if (!axis)
    return propagate(axis);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(*axis), *depth);
  at.set(0, at.type(2), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__EyeLike.html
result<void> infer_eye_like(inference& at) {
  if (auto good = at.expect_rank(0, 2); !good)
    return good;
  auto type = at.type(0);
  if (at.attributes().has("dtype")) {
    const auto named = dtype_of_onnx(at.attributes().integer("dtype", 0));
    if (!named)
      return propagate(named);
    type = *named;
  }
  at.set(0, type, at.dims(0) == nullptr ? at.unknown(2) : *at.dims(0));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__ReverseSequence.html
result<void> infer_reverse_sequence(inference& at) {
  const auto time = at.attributes().integer("time_axis", 0);
  const auto batch = at.attributes().integer("batch_axis", 1);
  if (time + batch != 1 || time < 0 || time > 1)
    return fail(errc::invalid_argument,
                "time_axis and batch_axis of 0 and 1 expected, {} and {} found", time, batch);
  if (auto good = at.expect_rank(1, 1); !good)
    return good;
  if (const auto* data = at.dims(0); data != nullptr) {
    if (data->size() < 2)
      return fail(errc::invalid_argument, "input 0 of rank 2 or more expected, {} found",
                  at.graph_text(*data));
    if (auto good = at.expect_size(1, 0, (*data)[static_cast<std::size_t>(batch)]); !good)
      return good;
  }
  return infer_same(at);
}

// https://onnx.ai/onnx/operators/onnx__CenterCropPad.html
result<void> infer_center_crop_pad(inference& at) {
  if (at.dims(0) == nullptr)
    return infer_type_only(at);
  auto out = *at.dims(0);
  auto named = at.attributes().integers("axes");
  if (!at.attributes().has("axes")) {
    named.resize(out.size());
    std::iota(named.begin(), named.end(), 0);
  }
  const auto axes = inference::axes_in(named, out.size());
  if (!axes)
    return propagate(axes);
  if (const auto length = at.length(1);
      length && *length != static_cast<std::int64_t>(axes->size()))
    return fail(errc::invalid_argument, "{} sizes expected, {} found", axes->size(), *length);
  const auto sizes = at.elements(1);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const bool known = i < sizes.size() && sizes[i].is_known();
    if (known && sizes[i].is_number() && sizes[i].number() < 0)
      return fail(errc::invalid_argument, "sizes of 0 or more expected, {} found",
                  sizes[i].number());
    out[(*axes)[i]] = known ? sizes[i].size() : at.symbols().fresh_dim();
  }
  at.set(0, at.type(0), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__TensorScatter.html
result<void> infer_tensor_scatter(inference& at) {
  if (auto good = at.same_type(1); !good)
    return good;
  if (const auto* cache = at.dims(0); cache != nullptr) {
    const auto axis = inference::axis_in(at.attributes().integer("axis", -2), cache->size());
    if (!axis)
      return propagate(axis);
    if (*axis == 0)
      return fail(errc::invalid_argument, "a sequence axis other than the batch's, 0, expected");
    if (auto good = at.expect_rank(1, cache->size()); !good)
      return good;
    for (std::size_t other = 0; other < cache->size(); ++other)
      if (other != *axis)
        if (auto good = at.expect_size(1, other, (*cache)[other]); !good)
          return good;
  }
  return infer_same(at);
}

constexpr std::array rules{
    infer_entry{"CenterCropPad", 2, 2, 1, infer_center_crop_pad},
    infer_entry{"DepthToSpace", 1, 1, 1, infer_depth_to_space},
    infer_entry{"EyeLike", 1, 1, 1, infer_eye_like},
    infer_entry{"OneHot", 3, 3, 1, infer_one_hot},
    infer_entry{"ReverseSequence", 2, 2, 1, infer_reverse_sequence},
    infer_entry{"SpaceToDepth", 1, 1, 1, infer_space_to_depth},
    infer_entry{"TensorScatter", 2, 3, 1, infer_tensor_scatter},
};

} // namespace

std::span<const infer_entry> rearrangement_rules() {
  return rules;
}

} // namespace troupe::graph
