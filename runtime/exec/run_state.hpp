#pragma once

#include "runtime/plan/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace troupe::exec {

/// The changing half of a plan: pointers bound to one block of memory. Belongs to one thread at a
/// time; launching allocates nothing.
class run_state {
public:
  /// Called before and after each step, for profiles.
  using observer = std::function<void(std::size_t step, bool finished)>;

  explicit run_state(std::shared_ptr<const plan::plan> of);

  [[nodiscard]] const plan::plan& of() const noexcept { return *plan_; }

  /// Uses `arena` (at least `arena_bytes`, aligned to 64) until the next bind.
  void bind(std::byte* arena);
  /// Row-major data of the caller, in signature order, alive until the work is done. Sizes are
  /// those of the plan.
  void set_input(std::size_t index, const std::byte* data);
  void set_output(std::size_t index, std::byte* data);

  /// Launches every step on the stream; only inside the stream's `issue`. The error names the node.
  [[nodiscard]] result<void> launch(stream& on, const observer& watch = {});

private:
  std::shared_ptr<const plan::plan> plan_;
  std::vector<tensor_view> views_; // of all steps, inputs before outputs
  std::vector<std::pair<std::uint32_t, std::size_t>> arena_views_; // view, offset
  std::vector<std::vector<std::uint32_t>> input_views_;            // by model input
  std::vector<std::vector<std::uint32_t>> output_views_;           // by model output
  std::byte* arena_ = nullptr;
};

} // namespace troupe::exec
