// ai.onnx.ml: https://onnx.ai/onnx/operators/index.html#ai-onnx-ml. Inputs are [rows, features]; a
// vector is one row.

#include "runtime/graph/infer/inference.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

constexpr std::string_view ml = "ai.onnx.ml";

// Nothing if the rank of the input is not known.
result<std::optional<dim>> rows_of(const inference& at) {
  const auto* dims = at.dims(0);
  if (dims == nullptr)
    return std::nullopt;
  if (dims->empty() || dims->size() > 2)
    return fail(errc::invalid_argument, "input 0 of rank 1 or 2 expected, {} found",
                at.graph_text(*dims));
  return std::optional{dims->size() == 1 ? dim{1} : dims->front()};
}

result<void> set_columns(inference& at, std::size_t output, std::optional<dtype> type,
                         std::int64_t columns) {
  const auto rows = rows_of(at);
  if (!rows)
    return propagate(rows);
  if (columns < 1)
    return fail(errc::invalid_argument, "1 or more columns expected, {} found", columns);
  at.set(output, type, *rows ? std::optional{symbolic_shape{**rows, dim{columns}}} : std::nullopt);
  return {};
}

struct class_labels {
  std::int64_t count = 0;
  dtype type = dtype::int64;
};

result<class_labels> labels_of(const inference& at, const char* integers) {
  const auto& attributes = at.attributes();
  const auto texts = attributes.get<std::vector<std::string>>("classlabels_strings", {});
  const auto numbers = attributes.integers(integers);
  if (texts.empty() == numbers.empty())
    return fail(errc::invalid_argument,
                "one of {} and classlabels_strings expected, {} and {} labels found", integers,
                numbers.size(), texts.size());
  if (numbers.empty())
    return class_labels{static_cast<std::int64_t>(texts.size()), dtype::string};
  return class_labels{static_cast<std::int64_t>(numbers.size()), dtype::int64};
}

result<void> set_classes(inference& at, const class_labels& labels, std::int64_t scores) {
  const auto rows = rows_of(at);
  if (!rows)
    return propagate(rows);
  at.set(0, labels.type, *rows ? std::optional{symbolic_shape{**rows}} : std::nullopt);
  return set_columns(at, 1, dtype::float32, scores);
}

result<void> infer_tree_classifier(inference& at) {
  const auto labels = labels_of(at, "classlabels_int64s");
  return labels ? set_classes(at, *labels, labels->count) : propagate(labels);
}

result<void> infer_linear_classifier(inference& at) {
  const auto labels = labels_of(at, "classlabels_ints");
  return labels ? set_classes(at, *labels, labels->count) : propagate(labels);
}

// Without probabilities a machine of more than two classes gives a score for each pair of them.
result<void> infer_svm_classifier(inference& at) {
  const auto labels = labels_of(at, "classlabels_ints");
  if (!labels)
    return propagate(labels);
  const auto count = labels->count;
  const bool pairs = count > 2 && count < (1 << 16)
                     && !at.attributes().integers("vectors_per_class").empty()
                     && at.attributes().get<std::vector<float>>("prob_a", {}).empty();
  return set_classes(at, *labels, pairs ? count * (count - 1) / 2 : count);
}

result<void> infer_tree_ensemble(inference& at) {
  return set_columns(at, 0, at.type(0), at.attributes().integer("n_targets", 1));
}

result<void> infer_tree_regressor(inference& at) {
  return set_columns(at, 0, dtype::float32, at.attributes().integer("n_targets", 1));
}

result<void> infer_linear_regressor(inference& at) {
  return set_columns(at, 0, dtype::float32, at.attributes().integer("targets", 1));
}

result<void> infer_svm_regressor(inference& at) {
  return set_columns(at, 0, dtype::float32, 1);
}

result<void> infer_to_floats(inference& at) {
  const auto* dims = at.dims(0);
  at.set(0, dtype::float32, dims ? std::optional{*dims} : std::nullopt);
  return {};
}

// A vector gives a matrix of one row.
result<void> infer_array_feature_extractor(inference& at) {
  const auto* data = at.dims(0);
  const auto* picked = at.dims(1);
  if (at.type(1) && *at.type(1) != dtype::int64)
    return fail(errc::invalid_argument, "indices of INT64 expected, {} found",
                to_string(*at.type(1)));
  if (data == nullptr || picked == nullptr) {
    at.set(0, at.type(0), std::nullopt);
    return {};
  }
  if (data->empty())
    return fail(errc::invalid_argument, "input 0 of rank 1 or more expected, a scalar found");
  auto out = *data;
  if (out.size() == 1)
    out = {dim{1}, dim{1}};
  const auto known = concrete(*picked);
  out.back() = known                 ? dim{element_count(*known)}
               : picked->size() == 1 ? picked->front()
                                     : at.symbols().fresh_dim();
  at.set(0, at.type(0), std::move(out));
  return {};
}

result<void> infer_feature_vectorizer(inference& at) {
  const auto wanted = at.attributes().integers("inputdimensions");
  if (wanted.size() != at.input_count())
    return fail(errc::invalid_argument, "inputdimensions for {} inputs expected, {} found",
                at.input_count(), wanted.size());
  constexpr std::int64_t largest = std::int64_t{1} << 40;
  std::int64_t sum = 0;
  for (const auto columns : wanted) {
    if (columns < 0 || columns > largest || sum > largest)
      return fail(errc::invalid_argument, "inputdimensions in [0, {}] expected, {} found", largest,
                  columns);
    sum += columns;
  }
  return set_columns(at, 0, dtype::float32, sum);
}

result<void> infer_one_hot_encoder(inference& at) {
  const auto& attributes = at.attributes();
  const auto texts = attributes.get<std::vector<std::string>>("cats_strings", {}).size();
  const auto numbers = attributes.integers("cats_int64s").size();
  if ((texts == 0) == (numbers == 0))
    return fail(errc::invalid_argument,
                "one of cats_int64s and cats_strings expected, {} and {} categories found", numbers,
                texts);
  std::optional<symbolic_shape> out;
  if (const auto* dims = at.dims(0); dims != nullptr) {
    out = *dims;
    out->push_back(dim{static_cast<std::int64_t>(std::max(texts, numbers))});
  }
  at.set(0, dtype::float32, std::move(out));
  return {};
}

result<void> set_mapped(inference& at, dtype type) {
  const auto* dims = at.dims(0);
  at.set(0, type, dims ? std::optional{*dims} : std::nullopt);
  return {};
}

// Version 1 had one list of texts, whose places are the numbers.
result<void> infer_label_encoder(inference& at) {
  const auto& attributes = at.attributes();
  if (at.version() < 2)
    return set_mapped(at, at.type(0) == dtype::string ? dtype::int64 : dtype::string);
  if (const auto* values = attributes.find<tensor>("values_tensor"))
    return set_mapped(at, values->type);
  if (attributes.has("values_strings"))
    return set_mapped(at, dtype::string);
  if (attributes.has("values_int64s"))
    return set_mapped(at, dtype::int64);
  if (attributes.has("values_floats"))
    return set_mapped(at, dtype::float32);
  return fail(errc::invalid_argument, "one of the attributes values_… expected, none found");
}

result<void> infer_category_mapper(inference& at) {
  return set_mapped(at, at.type(0) == dtype::string ? dtype::int64 : dtype::string);
}

result<void> refuse_maps(inference&) {
  return fail(errc::unimplemented, "maps are not supported: give the operator's tensor instead");
}

constexpr std::array rules{
    infer_entry{"ArrayFeatureExtractor", 2, 2, 1, infer_array_feature_extractor, ml},
    infer_entry{"Binarizer", 1, 1, 1, infer_same, ml},
    infer_entry{"CastMap", 1, 1, 1, refuse_maps, ml},
    infer_entry{"CategoryMapper", 1, 1, 1, infer_category_mapper, ml},
    infer_entry{"DictVectorizer", 1, 1, 1, refuse_maps, ml},
    infer_entry{"FeatureVectorizer", 1, any_number, 1, infer_feature_vectorizer, ml},
    infer_entry{"Imputer", 1, 1, 1, infer_same, ml},
    infer_entry{"LabelEncoder", 1, 1, 1, infer_label_encoder, ml},
    infer_entry{"LinearClassifier", 1, 1, 2, infer_linear_classifier, ml},
    infer_entry{"LinearRegressor", 1, 1, 1, infer_linear_regressor, ml},
    infer_entry{"Normalizer", 1, 1, 1, infer_to_floats, ml},
    infer_entry{"OneHotEncoder", 1, 1, 1, infer_one_hot_encoder, ml},
    infer_entry{"Scaler", 1, 1, 1, infer_to_floats, ml},
    infer_entry{"SVMClassifier", 1, 1, 2, infer_svm_classifier, ml},
    infer_entry{"SVMRegressor", 1, 1, 1, infer_svm_regressor, ml},
    infer_entry{"TreeEnsemble", 1, 1, 1, infer_tree_ensemble, ml},
    infer_entry{"TreeEnsembleClassifier", 1, 1, 2, infer_tree_classifier, ml},
    infer_entry{"TreeEnsembleRegressor", 1, 1, 1, infer_tree_regressor, ml},
    infer_entry{"ZipMap", 1, 1, 1, infer_to_floats, ml}, // the table it makes maps of
};

} // namespace

std::span<const infer_entry> machine_learning_rules() {
  return rules;
}

} // namespace troupe::graph
