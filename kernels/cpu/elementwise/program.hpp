#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/elementwise/step.hpp"
#include "kernels/cpu/iteration.hpp"

#include <memory>
#include <vector>

namespace troupe::cpu {

/// Where a tensor of a program comes from at launch.
struct program_operand {
  static constexpr std::size_t output_in_place = ~std::size_t{0};

  std::size_t input = output_in_place; ///< index in the kernel's inputs
  tensor_desc desc;
  std::shared_ptr<const std::vector<float>> owned = nullptr; ///< values of the kernel's own instead
};

/// A chain of element-wise steps in one pass: y = s_n(… s_2(s_1(x))). Float32, any broadcast that
/// ends up with operands repeated or contiguous along the innermost loop. Works through blocks that
/// stay in the first-level cache, so that a further step costs no further memory traffic.
/// Immutable.
class program {
public:
  struct part {
    step what;
    std::size_t operand = 0; ///< index into the operands, where `takes_operand`
  };

  /// Operand 0 is the source x. `cost` weighs an element against a plain addition. The reason when
  /// an operand does not broadcast, is not float32 or strides through memory.
  [[nodiscard]] static tl::expected<program, std::string>
  make(const tensor_desc& output, std::vector<program_operand> operands, std::vector<part> parts,
       int threads);

  /// Appends the node's post-ops to `parts` and their operands to `operands`.
  static void append_post_ops(const kernel_spec& spec, std::vector<program_operand>& operands,
                              std::vector<part>& parts);

  /// Writes output 0, on the calling thread's team.
  void run(const kernel_args& args) const;

  /// The program as a kernel of this name. Output 0 may lie in the memory of x, and in that of an
  /// operand read by the first step, where they have its shape and layout.
  [[nodiscard]] static made_kernel make_kernel_of(tl::expected<program, std::string> made,
                                                  std::string name, const tensor_desc& output);

private:
  struct bound;
  void run_rows(const bound& on, std::int64_t begin, std::int64_t end) const;
  void run_tiles(const bound& on, std::int64_t begin, std::int64_t end) const;
  void run_block(std::span<const float* const> at, float* y, std::int64_t count) const;
  [[nodiscard]] bool repeats(std::size_t operand) const {
    return loops_.strides[operand].back() == 0;
  }

  iteration loops_;
  iteration tile_loops_; ///< loops_ without the innermost, for groups of rows
  std::vector<program_operand> operands_;
  std::vector<part> parts_;
  int threads_ = 1;
  std::int64_t cost_ = 1;
  std::int64_t block_ = 0;     ///< elements of a row per work item
  std::int64_t tile_rows_ = 0; ///< rows per work item, when short rows are worked on together
};

} // namespace troupe::cpu
