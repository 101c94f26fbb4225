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

/// Fills inputs that were left out with their declared defaults and checks that BYTES are well
/// formed. After `check_request`.
[[nodiscard]] result<void> complete_inputs(job::impl& asked);

/// Undoes both, so that the request can be checked against another version. The order of the inputs
/// stays.
void restore_inputs(job::impl& asked);

} // namespace troupe::actors
