#pragma once

#include "kernels/cpu/candidate.hpp"

#include <vector>

namespace troupe::cpu {

/// How far one output axis of a Resize looks back: output position i is
/// `(1 - weight[i]) * input[low[i]] + weight[i] * input[high[i]]`. Nearest has weight 0.
struct resize_axis {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  std::vector<float> weight;

  /// Whether the axis passes through unchanged.
  [[nodiscard]] bool is_identity() const noexcept;
};

/// Modes, as the attributes say.
struct resize_rule {
  bool linear = false;
  bool simple = false; ///< before opset 11: no choice of coordinates or rounding
  std::string coordinates;
  std::string rounding;
};

[[nodiscard]] tl::expected<resize_rule, std::string> resize_rule_of(const kernel_spec& spec);

/// Scale of each axis from initializers (scales or sizes); empty when they are known only at
/// launch.
[[nodiscard]] tl::expected<std::vector<float>, std::string>
constant_scales(const kernel_spec& spec);

/// Tables for one axis. `scale` is output size over input size as the model states it.
[[nodiscard]] resize_axis resize_axis_of(const resize_rule& rule, std::int64_t from,
                                         std::int64_t to, float scale);

} // namespace troupe::cpu
