#pragma once

#include "kernels/cpu/candidate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tests {

/// A node for a kernel test, in row-major terms. The runner moves activations into the layout asked
/// for and back.
struct kernel_case {
  std::string op_type;
  attribute_map attributes;
  std::vector<shape> inputs; ///< the operator's own, then those of post-ops
  std::vector<bool> constant;
  shape output;
  std::vector<post_op> post_ops = {};
  layout format =
      layout::row_major; ///< of the activations: output, input 0, and inputs of its shape
  int threads = 1;
  int version = 13;
  std::string domain = {};
  std::optional<layout> output_format = {}; ///< where it is not that of the inputs
};

struct candidate_run {
  bool taken = false;
  std::string reason; ///< why it was declined
  std::string name;   ///< of the kernel
  std::vector<float> output;
};

/// Values in [-1, 1), the same for the same seed.
[[nodiscard]] std::vector<float> random_values(std::size_t count, std::uint32_t seed);

/// Owns the inputs of a case and runs candidates on it, as the device would.
class candidate_runner {
public:
  explicit candidate_runner(kernel_case node, std::uint32_t seed = 1);

  /// Runs the candidate `index` of the operator's row of the table.
  [[nodiscard]] candidate_run run(std::size_t index, weight_cache& weights) const;
  [[nodiscard]] candidate_run run(const cpu::candidate& from, weight_cache& weights) const;
  /// Runs the last candidate of the row: the reference kernel, row-major.
  [[nodiscard]] candidate_run run_reference() const;
  [[nodiscard]] std::size_t candidates() const;

  /// The constants, so that another shape of the same node shares them.
  [[nodiscard]] const std::vector<std::shared_ptr<const tensor>>& tensors() const {
    return tensors_;
  }
  void share_constants(const candidate_runner& other);

private:
  [[nodiscard]] bool is_activation(std::size_t input) const;

  kernel_case node_;
  std::vector<std::shared_ptr<const tensor>> tensors_; ///< row-major
};

/// Fails the test unless every candidate that takes the case agrees with the reference kernel, and
/// at least one whose name begins with `expected` does (oneDNN's on x86-64 only). `tolerance` is
/// relative to the largest value, and absolute below 1.
void check_candidates(const kernel_case& node, std::string_view expected, float tolerance = 2e-5F);

} // namespace troupe::tests
