#pragma once

#include "runtime/batching/policy.hpp"
#include "runtime/exec/signature.hpp"
#include "runtime/repository/layout.hpp"
#include "runtime/sequences/rules.hpp"

namespace troupe::repository {

/// Puts what the configuration says of sequences under the model's signature: finds the tensors,
/// checks their types and dims, reads initial states, and marks in `io` what is no longer the
/// clients'. `io` has its `max_batch_size`. Only for a model whose configuration has sequences.
[[nodiscard]] result<sequences::rules> sequence_rules_of(const model_folder& of, signature& io);

/// How steps of different sequences form batches.
void set_sequence_batching(batching::policy& into, const sequence_config& said,
                           std::int64_t max_batch);

} // namespace troupe::repository
