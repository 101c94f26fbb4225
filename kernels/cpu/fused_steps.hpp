#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/kernel_function.hpp"

#include <array>

namespace troupe::cpu {

/// The post-ops that our own vector kernels apply to a result while it is still in a register:
/// activations, and a residual that lies as the output does.
struct fused_steps {
  static constexpr std::size_t limit = 4;

  std::array<post_op, limit> steps;
  std::size_t count = 0;

  /// The post-ops of `spec` from `first` on; the reason when it asks for more.
  [[nodiscard]] static tl::expected<fused_steps, std::string> make(const kernel_spec& spec,
                                                                   std::size_t first = 0);

  /// Where the operand of each step lies; null for activations.
  [[nodiscard]] std::array<const float*, limit> operands(const kernel_args& args) const noexcept;
};

} // namespace troupe::cpu
