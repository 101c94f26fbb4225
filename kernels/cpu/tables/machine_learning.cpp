// ai.onnx.ml on numbers; what takes or gives strings stands among the value kernels.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/ml/kernels.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::string_view ml = "ai.onnx.ml";

constexpr std::array array_feature_extractor{candidate{"plain", make_array_feature_extractor}};
constexpr std::array binarizer{candidate{"plain", make_binarizer}};
constexpr std::array feature_vectorizer{candidate{"plain", make_feature_vectorizer}};
constexpr std::array imputer{candidate{"plain", make_imputer}};
constexpr std::array linear_classifier{candidate{"plain", make_linear_classifier}};
constexpr std::array linear_regressor{candidate{"plain", make_linear_regressor}};
constexpr std::array normalizer{candidate{"plain", make_normalizer}};
constexpr std::array one_hot_encoder{candidate{"plain", make_one_hot_encoder}};
constexpr std::array scaler{candidate{"plain", make_scaler}};
constexpr std::array svm_classifier{candidate{"plain", make_svm_classifier}};
constexpr std::array svm_regressor{candidate{"plain", make_svm_regressor}};
constexpr std::array tree_ensemble{candidate{"packed", make_tree_ensemble}};
constexpr std::array tree_classifier{candidate{"packed", make_tree_ensemble_classifier}};
constexpr std::array tree_regressor{candidate{"packed", make_tree_ensemble_regressor}};
constexpr std::array zip_map{candidate{"reference", make_reference_identity}};

constexpr std::array operators{
    operator_entry{ml, "ArrayFeatureExtractor", array_feature_extractor, 2},
    operator_entry{ml, "Binarizer", binarizer},
    operator_entry{ml, "FeatureVectorizer", feature_vectorizer},
    operator_entry{ml, "Imputer", imputer},
    operator_entry{ml, "LinearClassifier", linear_classifier},
    operator_entry{ml, "LinearRegressor", linear_regressor},
    operator_entry{ml, "Normalizer", normalizer},
    operator_entry{ml, "OneHotEncoder", one_hot_encoder},
    operator_entry{ml, "Scaler", scaler},
    operator_entry{ml, "SVMClassifier", svm_classifier},
    operator_entry{ml, "SVMRegressor", svm_regressor},
    operator_entry{ml, "TreeEnsemble", tree_ensemble},
    operator_entry{ml, "TreeEnsembleClassifier", tree_classifier},
    operator_entry{ml, "TreeEnsembleRegressor", tree_regressor},
    operator_entry{ml, "ZipMap", zip_map},
};

} // namespace

std::span<const operator_entry> machine_learning_operators() {
  return operators;
}

} // namespace troupe::cpu
