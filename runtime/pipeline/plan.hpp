#pragma once

// A pipeline against the models it calls: names are resolved, types agree, steps are in order.

#include "kernels/base/result.hpp"
#include "runtime/exec/signature.hpp"
#include "runtime/pipeline/definition.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::pipeline {

/// Index into `plan::values`.
using value_id = std::size_t;

struct step_input {
  std::string port;
  value_id value = 0;
  bool cut = false;      ///< one call gets so many rows of it
  bool optional = false; ///< the model does without
};

struct step_output {
  std::string port; ///< empty: the rows that each call gave
  value_id value = 0;
  std::optional<value_id> otherwise; ///< what stands for it where the step does not run
};

struct step_condition {
  value_id value = 0;
  comparison how = comparison::is_true;
  double number = 0;
  bool wanted = true;

  /// Whether both ask the same, whatever the answer they want.
  [[nodiscard]] bool same_question(const step_condition& other) const noexcept {
    return value == other.value && how == other.how && number == other.number;
  }
};

struct plan_step {
  std::string name;
  std::string model;
  std::string version;
  std::vector<step_input> inputs;
  std::vector<step_output> outputs;
  std::optional<step_condition> when;
  bool fans_out = false;
  std::int64_t rows = 1; ///< of one call, where it fans out
};

/// Immutable, shared by all requests.
struct plan {
  signature io; ///< what clients see
  /// Every tensor by the pipeline's name. The first ones are the inputs, in the order of `io`.
  std::vector<tensor_signature> values;
  std::vector<value_id> outputs;  ///< in the order of `io`
  std::vector<plan_step> steps;   ///< each after those whose tensors it looks at
  std::vector<std::string> notes; ///< worth a line in the log
  std::size_t max_active = 0;
  std::size_t max_in_flight = 0;
  std::int64_t max_fan_out = 0;
};

/// What a model or stage takes and gives.
using find_signature =
    std::function<result<signature>(const std::string& model, const std::string& version)>;

/// Checks a declaration as a whole and against its models. Every error names the step and the
/// tensor: names that are unknown or given twice, steps that wait for each other, types and sizes
/// that do not meet, inputs left out, tensors that nobody takes, outputs that may be missing.
/// Errors of `models` come as they are, with the step in front.
[[nodiscard]] result<std::shared_ptr<const plan>> compile(const definition& from,
                                                          const find_signature& models);

/// The names of the models that its steps call, each once.
[[nodiscard]] std::vector<std::string> models_of(const definition& from);

} // namespace troupe::pipeline
