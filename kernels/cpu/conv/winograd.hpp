#pragma once

// Winograd's minimal filtering F(4x4, 3x3) (Lavin and Gray, 2015) on channels-last activations:
// each tile of 4x4 outputs costs 36 multiplications per pair of channels instead of 144. The
// interpolation points are 0, ±√2, ±1/√2 and infinity, which lose one decimal digit against the
// direct sum; the usual 0, ±1, ±2 lose almost two.

#include "kernels/cpu/conv/geometry.hpp"
#include "kernels/cpu/fused_steps.hpp"
#include "kernels/cpu/matmul/panel_product.hpp"

#include <numbers>

namespace troupe::cpu::winograd {

inline constexpr std::int64_t tile = 4;                 ///< outputs of a tile along an axis
inline constexpr std::int64_t reach = 6;                ///< inputs of a tile along an axis
inline constexpr std::int64_t products = reach * reach; ///< matrix products per convolution
inline constexpr std::int64_t most_left_over = 3;       ///< tiles that join the last whole block
inline constexpr float point_a = std::numbers::sqrt2_v<float>;
inline constexpr float point_b = 0.5F * std::numbers::sqrt2_v<float>;

/// Everything a launch needs beside its tensors.
struct convolution {
  conv_geometry conv;
  panel_plan panels;
  fused_steps fused;
  std::int64_t tiles_y = 0;
  std::int64_t tiles_x = 0;
  std::int64_t block = 0;      ///< tiles transformed and multiplied together: whole register tiles
  std::int64_t in_stride = 0;  ///< floats between the 36 matrices of transformed inputs
  std::int64_t out_stride = 0; ///< and of their products
  std::int64_t column_stride = 0; ///< between the points of a column of inputs
  std::vector<float> no_pixel;    ///< zeros, read outside of the image

  [[nodiscard]] std::int64_t tiles() const noexcept { return conv.batch * tiles_y * tiles_x; }
  /// Floats of workspace for each member of the team.
  [[nodiscard]] std::int64_t workspace() const noexcept {
    return products * (in_stride + out_stride + column_stride);
  }
};

/// The tensors of a launch. `weights`: for each of the 36 products the transformed filters
/// [channels, out_channels] in panels.
struct tensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr; ///< may be null
  float* output = nullptr;
  std::array<const float*, fused_steps::limit> operands{};
};

/// Floats in a vector of the instruction set that `run_tiles` will use.
[[nodiscard]] std::int64_t vector_lanes();

/// Computes the output tiles [begin, end).
void run_tiles(const convolution& of, const tensors& with, std::int64_t begin, std::int64_t end,
               float* workspace);

} // namespace troupe::cpu::winograd
