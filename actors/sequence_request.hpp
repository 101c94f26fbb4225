#pragma once

// What a request says of the sequence it belongs to, by the parameters `sequence_id`,
// `sequence_start` and `sequence_end`, and what its model is told of it.

#include "actors/sequence_step.hpp"
#include "actors/served_model.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace troupe::actors {

/// The id in a request's parameters, if there is one; 0 and "" are none.
[[nodiscard]] std::optional<sequences::sequence_id> sequence_id_of(const inference_request& asked);

/// Whether the request says that it is the first step of a sequence.
[[nodiscard]] bool starts_sequence(const inference_request& asked);

/// Makes the job a step. invalid_argument where the parameters do not say of what.
[[nodiscard]] result<void> read_step(job::impl& asked);

/// Sets the inputs that are the server's own: controls, id and, as at a start, states.
/// invalid_argument where the id does not fit its input.
[[nodiscard]] result<void> fill_internal(const job::impl& asked, std::vector<named_tensor>& inputs);

/// Lets the states that a step begins with be those that the one before it left.
void read_states(job::impl& asked);

/// Sequences that one placement of a stateful model has under way at once.
[[nodiscard]] std::size_t slots_at(const served_model& model, std::size_t placement);

/// The sequence that a start begins lives on this placement of its model from now on.
void enter_sequence(job::impl& asked, std::size_t placement);

/// Where the sequence of a further step lives; failed_precondition if nowhere.
[[nodiscard]] result<std::size_t> home_of(job::impl& asked);

} // namespace troupe::actors
