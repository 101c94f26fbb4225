#include "kernels/cpu/ml/post_transform.hpp"

#include "kernels/cpu/candidate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace troupe::cpu {

namespace {

struct named_transform {
  std::string_view name;
  post_transform transform;
};

constexpr std::array transforms{
    named_transform{"NONE", post_transform::none},
    named_transform{"LOGISTIC", post_transform::logistic},
    named_transform{"SOFTMAX", post_transform::softmax},
    named_transform{"SOFTMAX_ZERO", post_transform::softmax_zero},
    named_transform{"PROBIT", post_transform::probit},
};

double logistic(double x) {
  const double positive = 1.0 / (1.0 + std::exp(-std::abs(x)));
  return x < 0 ? 1.0 - positive : positive;
}

// The inverse of the normal distribution's integral, by Winitzki's approximation of the inverse
// error function, which is what the operators' definition computes.
double probit(double x) {
  const double y = 2.0 * x - 1.0;
  const double product = (1.0 - y) * (1.0 + y);
  if (product == 0)
    return 0;
  const double log = std::log(product);
  const double v = 2.0 / (std::numbers::pi * 0.147) + 0.5 * log;
  const double root = std::sqrt(-v + std::sqrt(v * v - log / 0.147));
  return std::numbers::sqrt2 * (y < 0 ? -root : root);
}

// With `keep_zeros`, a score of 0 stays 0.
void softmax(std::span<double> scores, bool keep_zeros) {
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (auto& score : scores) {
    score =
        keep_zeros && std::abs(score) <= 1e-7 ? score * std::exp(-most) : std::exp(score - most);
    sum += score;
  }
  for (auto& score : scores)
    score = sum == 0 ? 0.5 : score / sum;
}

} // namespace

tl::expected<post_transform, std::string> post_transform_of(const attribute_map& attributes) {
  const auto name = attributes.text("post_transform", "NONE");
  const auto* known = std::ranges::find(transforms, name, &named_transform::name);
  if (known == transforms.end())
    return decline("post_transform {}", name);
  return known->transform;
}

void apply(post_transform transform, std::span<double> scores) {
  if (scores.empty())
    return;
  switch (transform) {
    case post_transform::none: return;
    case post_transform::logistic: std::ranges::transform(scores, scores.begin(), logistic); return;
    case post_transform::probit: std::ranges::transform(scores, scores.begin(), probit); return;
    case post_transform::softmax: softmax(scores, false); return;
    case post_transform::softmax_zero: softmax(scores, true); return;
  }
}

} // namespace troupe::cpu
