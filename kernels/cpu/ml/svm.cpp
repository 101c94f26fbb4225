#include "kernels/cpu/ml/svm.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu {

tl::expected<svm_kernel, std::string> svm_kernel_of(const attribute_map& attributes,
                                                    std::int64_t columns) {
  svm_kernel made;
  const auto name = attributes.text("kernel_type", "LINEAR");
  if (name == "POLY")
    made.what = svm_kernel::kind::poly;
  else if (name == "RBF")
    made.what = svm_kernel::kind::rbf;
  else if (name == "SIGMOID")
    made.what = svm_kernel::kind::sigmoid;
  else if (name != "LINEAR")
    return decline("kernel_type {}", name);
  const auto parameters = attributes.get<std::vector<float>>("kernel_params", {});
  if (!parameters.empty() && parameters.size() != 3)
    return decline("{} kernel_params, gamma, coef0 and degree expected", parameters.size());
  if (!parameters.empty()) {
    made.gamma = parameters[0];
    made.coef0 = parameters[1];
    made.degree = parameters[2];
  }
  made.columns = columns;
  made.vectors = attributes.get<std::vector<float>>("support_vectors", {});
  if (columns < 1 || static_cast<std::int64_t>(made.vectors.size()) % columns != 0)
    return decline("{} numbers in support_vectors for {} features", made.vectors.size(), columns);
  return made;
}

double svm_kernel::operator()(const double* row, const float* vector) const {
  double sum = 0;
  if (what == kind::rbf) {
    for (std::int64_t i = 0; i < columns; ++i) {
      const double gap = row[i] - double{vector[i]};
      sum += gap * gap;
    }
    return std::exp(-gamma * sum);
  }
  for (std::int64_t i = 0; i < columns; ++i)
    sum += row[i] * double{vector[i]};
  switch (what) {
    case kind::poly: return std::pow(gamma * sum + coef0, degree);
    case kind::sigmoid: return std::tanh(gamma * sum + coef0);
    default: return sum;
  }
}

void couple_pairs(std::int64_t k, const double* pairs, double* probabilities, double* scratch) {
  constexpr int most_rounds = 100;
  double* q = scratch;
  double* qp = scratch + k * k;
  for (std::int64_t t = 0; t < k; ++t) {
    probabilities[t] = 1.0 / static_cast<double>(k);
    q[t * k + t] = 0;
    for (std::int64_t j = 0; j < k; ++j)
      if (j != t) {
        q[t * k + t] += pairs[j * k + t] * pairs[j * k + t];
        q[t * k + j] = -pairs[j * k + t] * pairs[t * k + j];
      }
  }
  for (int round = 0; round < std::max<int>(most_rounds, static_cast<int>(k)); ++round) {
    double pqp = 0;
    for (std::int64_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (std::int64_t j = 0; j < k; ++j)
        qp[t] += q[t * k + j] * probabilities[j];
      pqp += probabilities[t] * qp[t];
    }
    double error = 0;
    for (std::int64_t t = 0; t < k; ++t)
      error = std::max(error, std::abs(qp[t] - pqp));
    if (error < 0.005 / static_cast<double>(k))
      break;
    for (std::int64_t t = 0; t < k; ++t) {
      const double change = (pqp - qp[t]) / q[t * k + t];
      probabilities[t] += change;
      pqp = (pqp + change * (change * q[t * k + t] + 2 * qp[t])) / ((1 + change) * (1 + change));
      for (std::int64_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + change * q[t * k + j]) / (1 + change);
        probabilities[j] /= 1 + change;
      }
    }
  }
}

} // namespace troupe::cpu
