// What draws random numbers.

#include "kernels/cpu/tables/table.hpp"

#include "kernels/cpu/random_kernels.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array bernoulli{candidate{"reference", make_bernoulli}};
constexpr std::array dropout{
    candidate{"pass", make_reference_identity},
    candidate{"reference", make_dropout},
};
constexpr std::array multinomial{candidate{"reference", make_multinomial}};
constexpr std::array normal{candidate{"reference", make_random_normal}};
constexpr std::array uniform{candidate{"reference", make_random_uniform}};

constexpr std::array operators{
    operator_entry{"", "Bernoulli", bernoulli},
    operator_entry{"", "Dropout", dropout},
    operator_entry{"", "Multinomial", multinomial},
    operator_entry{"", "RandomNormal", normal, 0},
    operator_entry{"", "RandomNormalLike", normal},
    operator_entry{"", "RandomUniform", uniform, 0},
    operator_entry{"", "RandomUniformLike", uniform},
};

} // namespace

std::span<const operator_entry> random_operators() {
  return operators;
}

} // namespace troupe::cpu
