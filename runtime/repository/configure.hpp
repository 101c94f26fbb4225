#pragma once

#include "runtime/batching/padding.hpp"
#include "runtime/batching/policy.hpp"
#include "runtime/exec/signature.hpp"
#include "runtime/repository/layout.hpp"
#include "runtime/sequences/rules.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe::repository {

/// What the server does where a model's configuration says nothing.
struct serving_defaults {
  batching::policy batching;
  std::int64_t max_batch = 256; ///< for models whose rows are proved independent
  std::int64_t max_queue_rows = 4096;
};

/// A model's signature and settings once its file and its configuration are put together.
struct configured_model {
  signature io;
  batching::policy batching;
  batching::priority_rules priorities;
  std::int64_t max_queue_rows = 4096;
  std::vector<std::string> softmax;
  batching::padding padding;
  std::shared_ptr<const sequences::rules> sequences; ///< of a stateful model
  std::map<std::string, shape> warm_up;              ///< dims of an input, the batch axis included
  std::vector<std::string> notes;                    ///< worth a line in the log
};

/// Batch sizes worth plans of their own: preferred sizes and `troupe.buckets`.
[[nodiscard]] result<std::vector<std::int64_t>> batch_buckets(const model_folder& of);

/// `troupe.batch_invariant`, which is true or false.
[[nodiscard]] result<bool> batch_invariant(const model_folder& of, bool unless_said);

/// Puts a model file's signature under its configuration. A mismatch of names, types or dims is
/// invalid_argument. Without max_batch_size a model batches only if its rows are independent
/// (`why_rows_depend` is empty) and axis 0 of all its tensors is free.
/// Parameters followed here: troupe.softmax, troupe.batching, troupe.slo_ms, troupe.warmup.INPUT; a
/// troupe.* that nobody follows is invalid_argument.
[[nodiscard]] result<configured_model> configure(const model_folder& of, const signature& declared,
                                                 const std::string& why_rows_depend,
                                                 const serving_defaults& defaults);

} // namespace troupe::repository
