#pragma once

#include "runtime/dynamic/context.hpp"
#include "runtime/plan/plan.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace troupe::dynamic {

/// A plan that gives its outputs memory of their own, with the run states that earlier runs left.
/// Any thread.
class plan_run {
public:
  explicit plan_run(std::shared_ptr<const plan::plan> of);
  ~plan_run();

  /// `inputs` have the plan's dims and are aligned.
  [[nodiscard]] result<std::vector<tensor>> run(std::span<const tensor* const> inputs,
                                                const run_context& with) const;

private:
  struct bound;
  [[nodiscard]] std::unique_ptr<bound> take() const;

  std::shared_ptr<const plan::plan> plan_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<bound>> resting_;
};

} // namespace troupe::dynamic
