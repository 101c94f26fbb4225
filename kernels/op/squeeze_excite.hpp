#pragma once

#include "kernels/op/attributes.hpp"
#include "kernels/op/post_op.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace troupe::squeeze_excite {

// The operator "SqueezeExcite" of the domain "troupe" (Hu et al., 2018), which the pass
// fuse_squeeze_excite makes: y = x * gate, where
//   gate[n, c] = excite(b2 + w2 squeeze(b1 + w1 mean of x[n] over its positions))
// x is [n, c, h, w], w1 [m, c, 1, 1], w2 [c, m, 1, 1]; `squeeze` and `excite` are activations kept
// in attributes.

enum input : std::size_t { x, squeeze_weights, squeeze_bias, excite_weights, excite_bias };
inline constexpr std::size_t input_count = 5;

inline constexpr std::string_view squeeze_steps = "squeeze";
inline constexpr std::string_view excite_steps = "excite";

/// Keeps activations, which have no operands, under a name in the attributes.
void set_steps(attribute_map& in, std::string_view name, std::span<const post_op> steps);
/// Those kept; empty where the attributes say no such thing.
[[nodiscard]] std::vector<post_op> steps_in(const attribute_map& from, std::string_view name);

} // namespace troupe::squeeze_excite
