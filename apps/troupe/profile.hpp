#pragma once

#include "kernels/base/clock.hpp"
#include "runtime/exec/run_state.hpp"
#include "runtime/plan/plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace troupe::cli {

/// The fastest time of each step over a number of runs: what others do on the machine meanwhile
/// only ever adds to a time, and would drown the differences in a mean.
class profile {
public:
  explicit profile(const plan::plan& of) : plan_{of}, fastest_(of.steps.size(), duration::max()) {}

  /// To be passed to `run_state::launch`; one run at a time.
  [[nodiscard]] exec::run_state::observer watch();
  /// After each run: how long all of it took.
  void finish_run(duration whole);

  /// A row per step in the order of the plan (milliseconds), then sums per operator
  /// and of what is not compute: steps that only move data, and the time outside of steps.
  [[nodiscard]] std::string table() const;
  [[nodiscard]] nlohmann::json json() const;

private:
  const plan::plan& plan_;
  std::vector<duration> fastest_; ///< by step
  time_point began_{};
  duration inside_{0}; ///< steps of the run that goes on
  duration whole_ = duration::max();
  duration outside_ = duration::max();
  std::size_t runs_ = 0;
};

/// Whether a step only moves data.
[[nodiscard]] bool moves_data(const plan::step& step);

} // namespace troupe::cli
