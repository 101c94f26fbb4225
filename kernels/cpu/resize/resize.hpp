#pragma once

#include "kernels/cpu/candidate.hpp"

#include <vector>

namespace troupe::cpu {

/// How far one output axis of a Resize looks back: output position i is the sum over its taps t of
/// `weight[i * taps + t] * input[from[i * taps + t]]`. Nearest has one tap of weight 1.
struct resize_axis {
  std::int64_t taps = 1;
  std::vector<std::int64_t> from;
  std::vector<float> weight;
  std::vector<bool> outside; ///< positions that show the extrapolation value; empty if none may

  /// Whether the axis passes through unchanged.
  [[nodiscard]] bool is_identity() const noexcept;
};

/// Modes, as the attributes say.
struct resize_rule {
  enum class mode : std::uint8_t { nearest, linear, cubic };
  mode how = mode::nearest;
  bool simple = false; ///< before opset 11: no choice of coordinates or rounding
  std::string coordinates;
  std::string rounding;
  bool antialias = false;
  bool exclude_outside = false;
  float cubic_coefficient = -0.75F;
  float extrapolation = 0.0F;

  [[nodiscard]] bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

/// One axis to resize. `scale` is output size over input size as the model states it; the region of
/// interest, from 0 to 1, is only looked at where the rule crops.
struct resize_extent {
  std::int64_t from = 1;
  std::int64_t to = 1;
  float scale = 1.0F;
  float roi_begin = 0.0F;
  float roi_end = 1.0F;
};

[[nodiscard]] tl::expected<resize_rule, std::string> resize_rule_of(const kernel_spec& spec);

/// Scale of each axis from initializers (scales or sizes); empty when they are known only at
/// launch.
[[nodiscard]] tl::expected<std::vector<float>, std::string>
constant_scales(const kernel_spec& spec);

/// The input position that output position `at` shows, before rounding.
[[nodiscard]] float source_coordinate(const resize_rule& rule, const resize_extent& axis,
                                      std::int64_t at);

/// Tables for one axis.
[[nodiscard]] resize_axis resize_axis_of(const resize_rule& rule, const resize_extent& axis);
[[nodiscard]] resize_axis resize_axis_of(const resize_rule& rule, std::int64_t from,
                                         std::int64_t to, float scale);

} // namespace troupe::cpu
