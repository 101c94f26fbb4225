#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// Operators that draw random numbers, from random/generator.hpp.

made_kernel make_bernoulli(const kernel_spec& spec, weight_cache& weights);
made_kernel make_dropout(const kernel_spec& spec, weight_cache& weights);
made_kernel make_multinomial(const kernel_spec& spec, weight_cache& weights);
made_kernel make_random_normal(const kernel_spec& spec, weight_cache& weights);  // and Like
made_kernel make_random_uniform(const kernel_spec& spec, weight_cache& weights); // and Like

} // namespace troupe::cpu
