#pragma once

#include "actors/served_model.hpp"

namespace troupe::actors {

/// What a request's header lets one say without touching its payload.
struct checked_request {
  bool needs_preprocess = false; ///< an input to be filled with its default, or BYTES to be checked
};

/// Checks names, types, dims and sizes against the signature of the job's model, puts the inputs
/// into the signature's order (one left out becomes an entry without data), and sets rows, lengths,
/// dims as they run, key and postprocess. invalid_argument says what was expected and what came.
[[nodiscard]] result<checked_request> check_request(job::impl& asked);

} // namespace troupe::actors
