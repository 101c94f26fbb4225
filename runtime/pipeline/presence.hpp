#pragma once

#include "kernels/base/result.hpp"
#include "runtime/pipeline/plan.hpp"

namespace troupe::pipeline {

/// Whether every output that is not optional is made however the conditions turn out and whichever
/// optional inputs are left out: tried one by one, so that a step and its counterpart (`when` and
/// `unless` of the same question) complete each other. At most 12 questions and optional inputs
/// together. invalid_argument names the output and the step.
[[nodiscard]] result<void> check_presence(const plan& of, const definition& from);

} // namespace troupe::pipeline
