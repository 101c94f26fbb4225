#pragma once

#include "kernels/cpu/ml/table.hpp"

#include <tl/expected.hpp>

#include <span>
#include <string>
#include <vector>

namespace troupe::cpu {

/// The kernel function of a support vector machine between a row and the support vectors.
struct svm_kernel {
  enum class kind : std::uint8_t { linear, poly, rbf, sigmoid };

  kind what = kind::linear;
  double gamma = 0;
  double coef0 = 0;
  double degree = 0;
  std::int64_t columns = 0;
  std::vector<float> vectors; ///< [count, columns]

  [[nodiscard]] double operator()(const double* row, const float* vector) const;
  [[nodiscard]] std::int64_t count() const {
    return columns == 0 ? 0 : static_cast<std::int64_t>(vectors.size()) / columns;
  }
};

/// Of the attributes that SVMClassifier and SVMRegressor share; the reason when they are at odds.
[[nodiscard]] tl::expected<svm_kernel, std::string> svm_kernel_of(const attribute_map& attributes,
                                                                  std::int64_t columns);

/// Class probabilities from the probabilities `pairs[i, j]` that a row of class i or j is of class
/// i: the second method of Wu, Lin and Weng, "Probability estimates for multi-class classification
/// by pairwise coupling" (2004), iterated to its fixed point. `scratch` has room for k * (k + 1).
void couple_pairs(std::int64_t k, const double* pairs, double* probabilities, double* scratch);

} // namespace troupe::cpu
