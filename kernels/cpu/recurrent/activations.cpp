#include "kernels/cpu/recurrent/activations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>

namespace troupe::cpu {

namespace {

using kind = activation::kind;

struct named_activation {
  std::string_view name;
  kind what;
  std::optional<double> alpha{}; ///< the default, where it has one
  std::optional<double> beta{};
};

constexpr std::array names{
    named_activation{"Affine", kind::affine, 1.0, 0.0},
    named_activation{"Elu", kind::elu, 1.0},
    named_activation{"HardSigmoid", kind::hard_sigmoid, 0.2, 0.5},
    named_activation{"LeakyRelu", kind::leaky_relu, 0.01},
    named_activation{"Relu", kind::relu},
    named_activation{"ScaledTanh", kind::scaled_tanh, 1.0, 1.0},
    named_activation{"Sigmoid", kind::sigmoid},
    named_activation{"Softplus", kind::softplus},
    named_activation{"Softsign", kind::softsign},
    named_activation{"Tanh", kind::tanh},
    named_activation{"ThresholdedRelu", kind::thresholded_relu, 1.0},
};

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](unsigned char c) { return std::tolower(c); },
      [](unsigned char c) { return std::tolower(c); });
}

} // namespace

double activation::operator()(double x) const {
  switch (what) {
    case kind::affine: return alpha * x + beta;
    case kind::elu: return x < 0 ? alpha * std::expm1(x) : x;
    case kind::hard_sigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
    case kind::leaky_relu: return x < 0 ? alpha * x : x;
    case kind::relu: return x < 0 ? 0.0 : x;
    case kind::scaled_tanh: return alpha * std::tanh(beta * x);
    case kind::sigmoid: return 1 / (1 + std::exp(-x));
    case kind::softplus: return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case kind::softsign: return x / (1 + std::abs(x));
    case kind::tanh: return std::tanh(x);
    case kind::thresholded_relu: return x > alpha ? x : 0.0;
  }
  return x;
}

tl::expected<std::vector<activation>, std::string>
activations_of(const attribute_map& attributes, const std::vector<activation>& defaults,
               std::size_t directions) {
  const auto* written = attributes.find<std::vector<std::string>>("activations");
  std::vector<activation> made;
  if (written == nullptr || written->empty()) {
    for (std::size_t direction = 0; direction < directions; ++direction)
      made.insert(made.end(), defaults.begin(), defaults.end());
    return made;
  }
  if (written->size() != defaults.size() * directions)
    return tl::unexpected{fmt::format("{} activations expected, {} found",
                                      defaults.size() * directions, written->size())};
  // Functions that have a parameter take the next of the list.
  const auto alphas = attributes.get<std::vector<float>>("activation_alpha", {});
  const auto betas = attributes.get<std::vector<float>>("activation_beta", {});
  std::size_t alphas_taken = 0;
  std::size_t betas_taken = 0;
  const auto next = [](const std::vector<float>& from, std::size_t& taken, double otherwise) {
    return taken < from.size() ? static_cast<double>(from[taken++]) : otherwise;
  };
  for (const auto& name : *written) {
    const auto* known = std::ranges::find_if(
        names, [&](const named_activation& each) { return same_name(each.name, name); });
    if (known == names.end())
      return tl::unexpected{fmt::format("'{}' is not a known activation", name)};
    activation one{known->what};
    if (known->alpha)
      one.alpha = next(alphas, alphas_taken, *known->alpha);
    if (known->beta)
      one.beta = next(betas, betas_taken, *known->beta);
    made.push_back(one);
  }
  return made;
}

} // namespace troupe::cpu
