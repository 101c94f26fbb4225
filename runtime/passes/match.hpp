#pragma once

#include "runtime/passes/rewriter.hpp"

#include <optional>
#include <utility>

namespace troupe::passes {

/// The number in a float32 constant of one element.
[[nodiscard]] std::optional<float> scalar_in(const graph::graph& of, value_id value);

/// Whether a constant holds `expected`, up to a few units in the last place: exporters write 1/6 or
/// the square root of 2 with their own rounding.
[[nodiscard]] bool holds(const graph::graph& of, value_id value, double expected);

/// Whether both values are known to have the same dims.
[[nodiscard]] bool same_dims(const graph::graph& of, value_id left, value_id right);

/// An operation of two inputs of which one is a constant scalar that does not change the other's
/// dims.
struct with_scalar {
  value_id x = no_value;
  float number = 0.0F;
  bool scalar_first = false;
};
[[nodiscard]] std::optional<with_scalar> match_scalar(const graph::graph& of, const node& binary);

/// The other input of a node of two inputs, if one is `known`.
[[nodiscard]] std::optional<value_id> other_input(const node& binary, value_id known);

/// Bounds of a Clip in either form, where they are constant; infinite where left out.
[[nodiscard]] std::optional<std::pair<float, float>> clip_bounds(const graph::graph& of,
                                                                 const node& clip);

/// A float32 constant.
[[nodiscard]] std::shared_ptr<const tensor> make_floats(std::span<const std::int64_t> dims,
                                                        std::span<const float> content);

} // namespace troupe::passes
