#pragma once

#include "actors/batch.hpp"

namespace troupe::actors {

/// Answers every job of a batch with its rows of the outputs: views into the batch's memory,
/// nothing is copied. Softmax and classification are applied where the model or the request asks
/// for them.
void deliver(const batch_results& results);

/// Whether a job's outputs need more than cutting: then its batch passes the postprocess actor.
[[nodiscard]] bool needs_postprocess(const batch& of) noexcept;

} // namespace troupe::actors
