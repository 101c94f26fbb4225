#include "apps/ocr/pipeline/answer.hpp"

#include "kernels/tensor/byte_strings.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace troupe::ocr {
namespace {

using protocol::named_tensor;

constexpr std::size_t box_values = 8;

template <class T>
tensor packed(dtype type, shape dims, const std::vector<T>& values) {
  return {type, std::move(dims), copy_of(std::as_bytes(std::span{values}))};
}

result<const tensor*> output_named(std::span<const named_tensor> outputs, std::string_view name,
                                   dtype type) {
  auto found = std::find_if(outputs.begin(), outputs.end(),
                            [&](const named_tensor& each) { return each.name == name; });
  if (found == outputs.end())
    return fail(errc::invalid_argument, "the answer lacks its output {}", name);
  if (found->value.type != type)
    return fail(errc::invalid_argument, "output {}: expected {}, got {}", name, to_string(type),
                to_string(found->value.type));
  return &found->value;
}

// As many values as `count`, whatever the dims say.
template <class T>
result<std::span<const T>> values_named(std::span<const named_tensor> outputs,
                                        std::string_view name, dtype type, std::size_t count) {
  auto found = output_named(outputs, name, type);
  if (!found)
    return propagate(std::move(found));
  auto values = elements_of<T>((*found)->data);
  if (values.size() != count)
    return fail(errc::invalid_argument, "output {}: expected {} values, got {}", name, count,
                values.size());
  return values;
}

} // namespace

std::vector<protocol::tensor_metadata> input_signature() {
  return {{"image", "BYTES", {-1}}};
}

std::vector<protocol::tensor_metadata> output_signature() {
  return {{"text", "BYTES", {-1}},
          {"boxes", "FP32", {-1, 4, 2}},
          {"scores", "FP32", {-1}},
          {"image_index", "INT32", {-1}}};
}

result<std::vector<named_tensor>> to_outputs(std::span<const text_line> lines,
                                             std::span<const protocol::requested_output> wanted) {
  std::vector<std::string> texts;
  std::vector<float> corners;
  std::vector<float> scores;
  std::vector<std::int32_t> indices;
  for (const auto& line : lines) {
    texts.push_back(line.text);
    for (auto [x, y] : line.box) {
      corners.push_back(x);
      corners.push_back(y);
    }
    scores.push_back(line.score);
    indices.push_back(line.image_index);
  }
  auto text = pack_strings(texts);
  if (!text)
    return propagate(std::move(text));

  auto count = static_cast<std::int64_t>(lines.size());
  std::vector<named_tensor> outputs;
  outputs.push_back({"text", std::move(*text), {}});
  outputs.push_back({"boxes", packed(dtype::float32, {count, 4, 2}, corners), {}});
  outputs.push_back({"scores", packed(dtype::float32, {count}, scores), {}});
  outputs.push_back({"image_index", packed(dtype::int32, {count}, indices), {}});
  std::erase_if(outputs, [&](const named_tensor& each) {
    return !wanted.empty() && std::none_of(wanted.begin(), wanted.end(), [&](const auto& name) {
      return name.name == each.name;
    });
  });
  return outputs;
}

result<std::vector<text_line>> from_outputs(std::span<const named_tensor> outputs) {
  auto packed_texts = output_named(outputs, "text", dtype::string);
  if (!packed_texts)
    return propagate(std::move(packed_texts));
  auto texts = unpack_strings(**packed_texts);
  if (!texts)
    return propagate(std::move(texts));
  auto count = texts->size();
  auto corners = values_named<float>(outputs, "boxes", dtype::float32, count * box_values);
  if (!corners)
    return propagate(std::move(corners));
  auto scores = values_named<float>(outputs, "scores", dtype::float32, count);
  if (!scores)
    return propagate(std::move(scores));
  auto indices = values_named<std::int32_t>(outputs, "image_index", dtype::int32, count);
  if (!indices)
    return propagate(std::move(indices));

  std::vector<text_line> lines(count);
  for (std::size_t i = 0; i < count; ++i) {
    lines[i].text = (*texts)[i];
    for (std::size_t corner = 0; corner < 4; ++corner) {
      auto at = i * box_values + corner * 2;
      lines[i].box[corner] = {(*corners)[at], (*corners)[at + 1]};
    }
    lines[i].score = (*scores)[i];
    lines[i].image_index = (*indices)[i];
  }
  return lines;
}

} // namespace troupe::ocr
