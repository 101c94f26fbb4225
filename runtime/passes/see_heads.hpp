#pragma once

#include "runtime/passes/rewriter.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::passes {

/// A value seen through transposes and factors: `scale` times `base`, whose axis `perm[i]` is seen
/// as axis i. `base` may have fewer heads (axis 1 of 4), each for as many of those seen.
struct seen_heads {
  value_id base = no_value;
  std::vector<std::int64_t> perm;
  float scale = 1;
};

/// Sees a value of `rank` axes through transposes, constant factors, and what repeats heads.
[[nodiscard]] seen_heads see_through(const rewriter& edit, value_id of, std::size_t rank);

/// 0, 1, … for `rank` axes.
[[nodiscard]] std::vector<std::int64_t> straight(std::size_t rank);
/// The permutation of a Transpose of `rank` axes, written or not.
[[nodiscard]] std::vector<std::int64_t> perm_of(const node& transpose, std::size_t rank);
/// The constant that a Mul or Div multiplies with, and in `x` what; nothing for another node.
[[nodiscard]] std::optional<float> factor_of(const graph::graph& on, const node& of, value_id& x);

} // namespace troupe::passes
