#pragma once

// Depthwise convolution on channels-last activations: vectors run over channels, a row of outputs
// is computed several positions at a time so that each input loaded serves every tap it meets.

#include "kernels/cpu/conv/geometry.hpp"
#include "kernels/cpu/fused_steps.hpp"

namespace troupe::cpu::depthwise {

struct convolution {
  conv_geometry conv;
  fused_steps fused;
};

/// `weights`: [kernel_y, kernel_x, channels].
struct tensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr; ///< may be null
  float* output = nullptr;
  std::array<const float*, fused_steps::limit> operands{};
};

/// Fewest channels `run_rows` takes: a vector of the instruction set it will use.
[[nodiscard]] std::int64_t vector_lanes();

/// Computes output rows [begin, end) of all images, counted together. The window is 3x3 or 5x5 with
/// a dilation of 1.
void run_rows(const convolution& of, const tensors& with, std::int64_t begin, std::int64_t end);

} // namespace troupe::cpu::depthwise
