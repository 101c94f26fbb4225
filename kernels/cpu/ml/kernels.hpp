#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// The operators of ai.onnx.ml on numbers.

made_kernel make_tree_ensemble(const kernel_spec& spec, weight_cache& weights);
made_kernel make_tree_ensemble_classifier(const kernel_spec& spec, weight_cache& weights);
made_kernel make_tree_ensemble_regressor(const kernel_spec& spec, weight_cache& weights);
made_kernel make_linear_classifier(const kernel_spec& spec, weight_cache& weights);
made_kernel make_linear_regressor(const kernel_spec& spec, weight_cache& weights);
made_kernel make_svm_classifier(const kernel_spec& spec, weight_cache& weights);
made_kernel make_svm_regressor(const kernel_spec& spec, weight_cache& weights);
made_kernel make_scaler(const kernel_spec& spec, weight_cache& weights);
made_kernel make_normalizer(const kernel_spec& spec, weight_cache& weights);
made_kernel make_imputer(const kernel_spec& spec, weight_cache& weights);
made_kernel make_binarizer(const kernel_spec& spec, weight_cache& weights);
made_kernel make_array_feature_extractor(const kernel_spec& spec, weight_cache& weights);
made_kernel make_one_hot_encoder(const kernel_spec& spec, weight_cache& weights);
made_kernel make_feature_vectorizer(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
