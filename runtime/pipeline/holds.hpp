#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"
#include "runtime/pipeline/plan.hpp"

namespace troupe::pipeline {

/// Whether a condition lets its step run. failed_precondition if the tensor has not exactly one
/// element. No comparison with NaN holds.
[[nodiscard]] result<bool> holds(const step_condition& asked, const tensor& of);

} // namespace troupe::pipeline
