#pragma once

// One request on its way through a pipeline: which calls may be made now, what their answers mean.
// Knows no time and no threads; whoever holds it makes the calls.

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"
#include "runtime/pipeline/plan.hpp"
#include "runtime/pipeline/rows.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::pipeline {

struct named_value {
  std::string name;
  tensor value;
};

/// A call of a step's model: give the inputs, ask for the step's outputs with a port.
struct sub_request {
  std::size_t step = 0;
  std::size_t part = 0; ///< of the step, where it fans out
  std::vector<named_value> inputs;
};

/// The answers of a step's calls, to be joined. Independent of the run: for any thread.
struct join_work {
  std::size_t step = 0;
  std::vector<std::vector<tensor>> parts; ///< by call, then by output
  std::shared_ptr<const plan> of;

  [[nodiscard]] std::size_t bytes() const noexcept;
  /// The step's outputs in the order of the plan. failed_precondition if they do not join.
  [[nodiscard]] result<std::vector<tensor>> joined() const;
};

/// Errors name the step; after one, the run goes no further and should be dropped.
class run {
public:
  /// `inputs` in the order of the plan's, checked against it; empty: left out. `wanted`: outputs by
  /// name, empty for all; steps that nothing wanted depends on do not run.
  [[nodiscard]] static result<run> begin(std::shared_ptr<const plan> of,
                                         std::vector<std::optional<tensor>> inputs,
                                         const std::vector<std::string>& wanted);

  /// A call to be made now; nothing while all that could be made are on their way, or as many as
  /// the plan allows. Later steps come first, so that what earlier ones made can go.
  [[nodiscard]] std::optional<sub_request> next();
  /// A call was answered. Outputs may come in any order.
  [[nodiscard]] result<void> answered(std::size_t step, std::size_t part,
                                      std::vector<named_value> outputs);
  /// A step whose calls have all been answered and are to be joined.
  [[nodiscard]] std::optional<join_work> next_join();
  [[nodiscard]] result<void> joined(std::size_t step, std::vector<tensor> outputs);

  [[nodiscard]] bool done() const noexcept;
  /// Once `done`: the outputs that were wanted and made, in the order of the plan.
  [[nodiscard]] std::vector<named_value> outputs() const;

private:
  enum class state : std::uint8_t {
    unneeded,
    waiting, ///< for inputs
    calling, ///< until all calls are answered
    to_join,
    joining,   ///< elsewhere
    stands_in, ///< does not run; waits for what takes the place of its outputs
    over
  };
  struct progress {
    state now = state::unneeded;
    std::size_t calls = 1;
    std::size_t sent = 0;
    std::size_t missing = 0;
    std::vector<std::vector<tensor>> parts;
    std::vector<std::optional<row_cutter>> cutters; ///< by input
  };
  struct slot {
    bool known = false;
    std::optional<tensor> value; ///< known and empty: there is none
    std::size_t users = 0;       ///< steps and outputs that may still look at it
  };

  run(std::shared_ptr<const plan> of, std::vector<std::optional<tensor>> inputs)
      : plan_(std::move(of)), steps_(plan_->steps.size()), values_(plan_->values.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      values_[i] = {true, std::move(inputs[i]), 0};
  }

  template <class Visit>
  void for_each_use(const plan_step& of, Visit visit) const;
  [[nodiscard]] result<void> settle();
  [[nodiscard]] result<void> decide(std::size_t step);
  [[nodiscard]] result<void> start(std::size_t step);
  void stand_in(std::size_t step);
  void finish(std::size_t step);
  void set(value_id value, std::optional<tensor> made);
  void release(value_id value);
  [[nodiscard]] result<std::vector<tensor>> checked(const plan_step& step,
                                                    std::vector<named_value> outputs) const;

  std::shared_ptr<const plan> plan_;
  std::vector<progress> steps_;
  std::vector<slot> values_;
  std::vector<std::size_t> wanted_; ///< indices of outputs
  std::size_t in_flight_ = 0;
};

} // namespace troupe::pipeline
