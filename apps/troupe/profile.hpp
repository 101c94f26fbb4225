#pragma once

#include "kernels/base/clock.hpp"
#include "runtime/exec/run_state.hpp"
#include "runtime/plan/plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe::cli {

/// Time per step over a number of runs.
class profile {
public:
  explicit profile(const plan::plan& of) : plan_{of}, spent_(of.steps.size()) {}

  /// To be passed to `run_state::launch`; one run at a time.
  [[nodiscard]] exec::run_state::observer watch();
  /// After each run: how long all of it took.
  void finish_run(duration whole);

  /// A row per step in the order of the plan (mean milliseconds of a run), then sums per operator
  /// and of what is not compute: steps that only move data, and the time outside of steps.
  [[nodiscard]] std::string table() const;
  [[nodiscard]] nlohmann::json json() const;

private:
  [[nodiscard]] double mean_ms(std::size_t step) const;
  [[nodiscard]] double outside_ms() const;

  const plan::plan& plan_;
  std::vector<duration> spent_;
  time_point began_{};
  duration whole_{0};
  std::size_t runs_ = 0;
};

/// Floating-point operations of a step (a multiply and an add are two), for convolutions and matrix
/// products.
[[nodiscard]] std::optional<double> flops_of(const plan::step& step);

/// Whether a step only moves data.
[[nodiscard]] bool moves_data(const plan::step& step);

} // namespace troupe::cli
