#pragma once

#include "actors/served_model.hpp"

namespace troupe::actors {

/// Fills inputs that were left out with their declared defaults and checks that BYTES are well
/// formed. After `check_request`.
[[nodiscard]] result<void> complete_inputs(job::impl& asked);

/// What the client brought, though in the signature's order: without what this and `check_request`
/// added.
[[nodiscard]] std::vector<named_tensor> inputs_as_sent(const job::impl& asked);

/// Undoes both, so that the request can be checked against another version. The order of the inputs
/// stays.
void restore_inputs(job::impl& asked);

} // namespace troupe::actors
