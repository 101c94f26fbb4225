#pragma once

// What clients are told of models: translations between our types and the protocol's.

#include "actors/served_model.hpp"
#include "actors/troupe.hpp"

namespace troupe::actors {

[[nodiscard]] protocol::model_metadata metadata_of(const served_model& served,
                                                   const std::vector<model_ptr>& versions);
[[nodiscard]] protocol::model_statistics statistics_of(const served_model& served);

/// The signature of a stage; invalid_argument on an unknown datatype or a name given twice. A stage
/// does not batch: axis 0 is an axis like any other.
[[nodiscard]] result<signature> stage_io(const stage_signature& declared);

} // namespace troupe::actors
