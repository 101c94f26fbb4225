// Operators that run as value kernels: those on sequences and optionals, and those whose output
// sizes depend on elements.

#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/onnx_type.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace troupe::graph {

namespace {

result<void> expect_kind(const inference& at, std::size_t input, bool sequence) {
  if (!at.has(input) || (at.kind(input) == value_kind::sequence) == sequence)
    return {};
  return fail(errc::invalid_argument, "input {} that is a {} expected", input,
              sequence ? "sequence" : "tensor");
}

// Dims hold for every tensor of a sequence, so they are not known unless said.
result<void> set_sequence(inference& at, std::optional<dtype> type) {
  at.set(0, type, std::nullopt);
  at.set_kind(0, value_kind::sequence);
  return {};
}

// https://onnx.ai/onnx/operators/onnx__SequenceConstruct.html
result<void> infer_sequence_construct(inference& at) {
  for (std::size_t input = 1; input < at.input_count(); ++input)
    if (auto good = at.same_type(input); !good)
      return good;
  return set_sequence(at, at.type(0));
}

// https://onnx.ai/onnx/operators/onnx__SequenceEmpty.html
result<void> infer_sequence_empty(inference& at) {
  auto type = dtype_of_onnx(at.attributes().integer("dtype", onnx_number(dtype::float32)));
  if (!type)
    return propagate(type);
  return set_sequence(at, *type);
}

// SequenceInsert, SequenceErase: a sequence of the same type.
result<void> infer_sequence_edit(inference& at) {
  if (auto good = expect_kind(at, 0, true); !good)
    return good;
  return set_sequence(at, at.type(0));
}

// https://onnx.ai/onnx/operators/onnx__SequenceAt.html, onnx__ConcatFromSequence.html
result<void> infer_from_sequence(inference& at) {
  if (auto good = expect_kind(at, 0, true); !good)
    return good;
  at.set(0, at.type(0), std::nullopt);
  return {};
}

result<void> infer_sequence_length(inference& at) {
  if (auto good = expect_kind(at, 0, true); !good)
    return good;
  at.set(0, dtype::int64, symbolic_shape{});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__SplitToSequence.html
result<void> infer_split_to_sequence(inference& at) {
  if (auto good = expect_kind(at, 0, false); !good)
    return good;
  return set_sequence(at, at.type(0));
}

// https://onnx.ai/onnx/operators/onnx__Optional.html
result<void> infer_optional(inference& at) {
  if (!at.has(0)) { // the importer reads a type as the elements' type and whether of a sequence
    const auto declared = at.attributes().integers("type");
    if (declared.size() != 2)
      return fail(errc::invalid_argument, "an input or a type expected, none found");
    auto type = dtype_of_onnx(declared[0]);
    if (!type)
      return propagate(type);
    at.set(0, *type, std::nullopt);
    at.set_kind(0, declared[1] != 0 ? value_kind::optional_sequence : value_kind::optional_tensor);
    return {};
  }
  const auto* dims = at.dims(0);
  at.set(0, at.type(0), dims == nullptr ? std::nullopt : std::optional{*dims});
  at.set_kind(0, at.kind(0) == value_kind::sequence ? value_kind::optional_sequence
                                                    : value_kind::optional_tensor);
  return {};
}

result<void> infer_optional_has_element(inference& at) {
  at.set(0, dtype::boolean, symbolic_shape{});
  return {};
}

result<void> infer_optional_get_element(inference& at) {
  const auto* dims = at.dims(0);
  const bool sequence =
      at.kind(0) == value_kind::sequence || at.kind(0) == value_kind::optional_sequence;
  at.set(0, at.type(0), dims == nullptr ? std::nullopt : std::optional{*dims});
  at.set_kind(0, sequence ? value_kind::sequence : value_kind::tensor);
  return {};
}

// https://onnx.ai/onnx/operators/onnx__NonZero.html
result<void> infer_non_zero(inference& at) {
  const auto* dims = at.dims(0);
  symbolic_shape out = at.unknown(2);
  if (dims != nullptr)
    out[0] = static_cast<std::int64_t>(dims->size());
  at.set(0, dtype::int64, std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Compress.html
result<void> infer_compress(inference& at) {
  const auto* dims = at.dims(0);
  const auto* axis = at.attributes().find<std::int64_t>("axis");
  if (axis == nullptr) {
    at.set(0, at.type(0), at.unknown(1));
    return {};
  }
  if (dims == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  auto counted = inference::axis_in(*axis, dims->size());
  if (!counted)
    return propagate(counted);
  auto out = *dims;
  out[*counted] = at.symbols().fresh_dim();
  at.set(0, at.type(0), std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html
result<void> infer_non_max_suppression(inference& at) {
  auto out = at.unknown(2);
  out[1] = 3;
  at.set(0, dtype::int64, std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Unique.html
result<void> infer_unique(inference& at) {
  const auto list = at.unknown(1);
  const auto* dims = at.dims(0);
  const auto* axis = at.attributes().find<std::int64_t>("axis");
  at.set(0, at.type(0), axis == nullptr ? std::optional{list} : std::nullopt);
  if (axis != nullptr && dims != nullptr) {
    auto counted = inference::axis_in(*axis, dims->size());
    if (!counted)
      return propagate(counted);
    auto out = *dims;
    out[*counted] = list[0];
    at.set(0, at.type(0), std::move(out));
  }
  at.set(1, dtype::int64, list);
  at.set(2, dtype::int64, at.unknown(1));
  at.set(3, dtype::int64, list);
  return {};
}

result<void> expect_strings(const inference& at, std::size_t input) {
  if (at.type(input) && *at.type(input) != dtype::string)
    return fail(errc::invalid_argument, "input {} of BYTES expected, {} found", input,
                to_string(*at.type(input)));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__StringConcat.html
result<void> infer_string_concat(inference& at) {
  for (std::size_t input : {0U, 1U})
    if (auto good = expect_strings(at, input); !good)
      return good;
  at.set(0, dtype::string, std::nullopt);
  if (at.dims(0) == nullptr || at.dims(1) == nullptr)
    return {};
  auto out = broadcast(*at.dims(0), *at.dims(1), at.symbols());
  if (!out)
    return propagate(out);
  at.set(0, dtype::string, *std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__StringSplit.html
result<void> infer_string_split(inference& at) {
  if (auto good = expect_strings(at, 0); !good)
    return good;
  const auto* dims = at.dims(0);
  at.set(1, dtype::int64, dims == nullptr ? std::nullopt : std::optional{*dims});
  at.set(0, dtype::string, std::nullopt);
  if (dims == nullptr)
    return {};
  auto out = *dims;
  out.push_back(at.symbols().fresh_dim());
  at.set(0, dtype::string, std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__StringNormalizer.html
result<void> infer_string_normalizer(inference& at) {
  if (auto good = expect_strings(at, 0); !good)
    return good;
  const auto* dims = at.dims(0);
  at.set(0, dtype::string, std::nullopt);
  if (dims == nullptr)
    return {};
  auto out = *dims;
  if (!out.empty())
    out.back() = at.symbols().fresh_dim();
  at.set(0, dtype::string, std::move(out));
  return {};
}

// https://onnx.ai/onnx/operators/onnx__RegexFullMatch.html
result<void> infer_regex_full_match(inference& at) {
  if (auto good = expect_strings(at, 0); !good)
    return good;
  const auto* dims = at.dims(0);
  at.set(0, dtype::boolean, dims == nullptr ? std::nullopt : std::optional{*dims});
  return {};
}

// https://onnx.ai/onnx/operators/onnx__TfIdfVectorizer.html
result<void> infer_tf_idf_vectorizer(inference& at) {
  std::int64_t width = 0;
  for (auto place : at.attributes().integers("ngram_indexes"))
    width = std::max(width, place == std::numeric_limits<std::int64_t>::max() ? 0 : place + 1);
  const auto* dims = at.dims(0);
  at.set(0, dtype::float32, std::nullopt);
  if (dims == nullptr || dims->empty())
    return {};
  auto out = *dims;
  out.back() = width;
  at.set(0, dtype::float32, std::move(out));
  return {};
}

constexpr std::array rules{
    infer_entry{"Compress", 2, 2, 1, infer_compress},
    infer_entry{"ConcatFromSequence", 1, 1, 1, infer_from_sequence},
    infer_entry{"NonMaxSuppression", 2, 5, 1, infer_non_max_suppression},
    infer_entry{"NonZero", 1, 1, 1, infer_non_zero},
    infer_entry{"Optional", 0, 1, 1, infer_optional},
    infer_entry{"OptionalGetElement", 1, 1, 1, infer_optional_get_element},
    infer_entry{"OptionalHasElement", 0, 1, 1, infer_optional_has_element},
    infer_entry{"RegexFullMatch", 1, 1, 1, infer_regex_full_match},
    infer_entry{"SequenceAt", 2, 2, 1, infer_from_sequence},
    infer_entry{"SequenceConstruct", 1, any_number, 1, infer_sequence_construct},
    infer_entry{"SequenceEmpty", 0, 0, 1, infer_sequence_empty},
    infer_entry{"SequenceErase", 1, 2, 1, infer_sequence_edit},
    infer_entry{"SequenceInsert", 2, 3, 1, infer_sequence_edit},
    infer_entry{"SequenceLength", 1, 1, 1, infer_sequence_length},
    infer_entry{"SplitToSequence", 1, 2, 1, infer_split_to_sequence},
    infer_entry{"StringConcat", 2, 2, 1, infer_string_concat},
    infer_entry{"StringNormalizer", 1, 1, 1, infer_string_normalizer},
    infer_entry{"StringSplit", 1, 1, 2, infer_string_split},
    infer_entry{"TfIdfVectorizer", 1, 1, 1, infer_tf_idf_vectorizer},
    infer_entry{"Unique", 1, 1, 4, infer_unique},
};

} // namespace

std::span<const infer_entry> value_rules() {
  return rules;
}

} // namespace troupe::graph
