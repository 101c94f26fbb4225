#pragma once

#include "actors/served_model.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::actors {

/// Requests that run together, in row order. Immutable once it has left the batcher, which keeps it
/// in its in-flight table until the device is finished with it.
struct batch {
  std::uint64_t id = 0;
  stage_id from = 0; ///< the batcher
  model_ptr model;
  const placed* where = nullptr;
  std::vector<std::shared_ptr<job::impl>> jobs;
  std::int64_t rows = 0;
  std::size_t shape = 0; ///< the hash that its jobs share
  duration expected{0};  ///< on the device, when it left the batcher
};

using batch_ptr = std::shared_ptr<const batch>;

/// What the device tells the batcher when it is through with a batch.
struct batch_outcome {
  std::uint64_t id = 0;
  std::optional<error> failed;
  duration took{0}; ///< on the device; 0 where it failed
  int tickets = 0;  ///< batches that the device is willing to hold of this model from now on
};

using outcome_ptr = std::shared_ptr<const batch_outcome>;

/// The outputs of a whole batch, in signature order: at least `of->rows` rows each where the model
/// batches. Rows of different jobs share memory.
struct batch_results {
  batch_ptr of;
  std::vector<tensor> outputs;
};

using results_ptr = std::shared_ptr<const batch_results>;

} // namespace troupe::actors
