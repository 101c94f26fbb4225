// ai.onnx.ml: each row of a table alone.

#include "runtime/graph/rows/row_rule.hpp"

#include <array>

namespace troupe::graph {

namespace {

constexpr std::string_view ml = "ai.onnx.ml";

// A model of [rows, features]; a vector would be one row.
row_axis of_table(const row_step& at) {
  if (!at.states[0].has_rows() || at.states[0].axis != 0 || at.rank(0) != 2)
    return rows_mix("the rows are not those of a matrix");
  return 0;
}

// One number at a time.
row_axis of_element(const row_step& at) {
  return at.states[0].axis;
}

// Along the last axis.
row_axis of_last_axis(const row_step& at) {
  if (auto why = unless_rest_shared(at, 1))
    return rows_mix(std::move(*why));
  if (at.states[0].axis + 1 >= at.rank(0))
    return rows_mix("it works along the rows");
  return at.states[0].axis;
}

row_axis vectorizer(const row_step& at) {
  for (std::size_t input = 0; input < at.inputs.size(); ++input)
    if (!at.states[input].has_rows() || at.states[input].axis != 0 || at.rank(input) != 2)
      return rows_mix("not every input is a matrix with the rows");
  return 0;
}

constexpr std::array rules{
    row_entry{"ArrayFeatureExtractor", of_last_axis, ml},
    row_entry{"Binarizer", of_element, ml},
    row_entry{"CategoryMapper", of_element, ml},
    row_entry{"FeatureVectorizer", vectorizer, ml},
    row_entry{"Imputer", of_last_axis, ml},
    row_entry{"LabelEncoder", of_element, ml},
    row_entry{"LinearClassifier", of_table, ml},
    row_entry{"LinearRegressor", of_table, ml},
    row_entry{"Normalizer", of_last_axis, ml},
    row_entry{"OneHotEncoder", of_element, ml},
    row_entry{"Scaler", of_last_axis, ml},
    row_entry{"SVMClassifier", of_table, ml},
    row_entry{"SVMRegressor", of_table, ml},
    row_entry{"TreeEnsemble", of_table, ml},
    row_entry{"TreeEnsembleClassifier", of_table, ml},
    row_entry{"TreeEnsembleRegressor", of_table, ml},
    row_entry{"ZipMap", of_element, ml},
};

} // namespace

std::span<const row_entry> machine_learning_row_rules() {
  return rules;
}

} // namespace troupe::graph
