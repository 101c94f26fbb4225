#pragma once

#include "kernels/op/attributes.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::cpu {

/// A function of recurrent layers, applied to each element.
struct activation {
  enum class kind : std::uint8_t {
    affine,
    elu,
    hard_sigmoid,
    leaky_relu,
    relu,
    scaled_tanh,
    sigmoid,
    softplus,
    softsign,
    tanh,
    thresholded_relu,
  };
  kind what = kind::tanh;
  double alpha = 0;
  double beta = 0;

  [[nodiscard]] double operator()(double x) const;
};

/// The functions that the attributes `activations`, `activation_alpha` and `activation_beta` name,
/// or `defaults` in each direction; the reason when they are not `defaults.size()` a direction.
[[nodiscard]] tl::expected<std::vector<activation>, std::string>
activations_of(const attribute_map& attributes, const std::vector<activation>& defaults,
               std::size_t directions);

} // namespace troupe::cpu
