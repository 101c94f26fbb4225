#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/elementwise/program.hpp"
#include "kernels/cpu/iteration.hpp"

#include <optional>
#include <vector>

namespace troupe::cpu {

/// The post-ops of a node as one pass over its finished output, for kernels that cannot fuse them.
/// Output 0 is float32, row-major or channels-last; operands broadcast to it. A blocked output is
/// accepted when its operands have its shape and layout, or one element.
class post_op_pass {
public:
  /// The reason when a post-op asks for what the pass cannot do.
  [[nodiscard]] static tl::expected<post_op_pass, std::string> make(const kernel_spec& spec);

  /// Applies them in order to output 0, in place, on the calling thread's team.
  void run(const kernel_args& args) const;

private:
  std::optional<program> fast_; ///< unless an operand strides through memory
  std::vector<post_op> steps_;
  iteration loops_; ///< operand i is the one of the i-th add or multiply
  int threads_ = 1;
};

/// What follows an element when it has no operand; the definition that fast kernels are tested
/// against.
[[nodiscard]] float apply_post_op(const post_op& step, float x, float operand) noexcept;

} // namespace troupe::cpu
