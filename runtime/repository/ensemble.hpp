#pragma once

#include "runtime/pipeline/definition.hpp"
#include "runtime/repository/layout.hpp"

namespace troupe::repository {

/// The pipeline that `ensemble_scheduling` declares. Steps are called like their models, the second
/// of the same model "model#2". Its inputs and outputs are those of the configuration, with a free
/// axis in front where max_batch_size is above 0. Tensors that nobody takes are allowed there.
/// Followed besides: `troupe.max_active`, `troupe.max_in_flight`; another troupe.* is
/// invalid_argument.
[[nodiscard]] result<pipeline::definition> ensemble_of(const model_folder& of);

} // namespace troupe::repository
