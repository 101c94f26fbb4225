#pragma once

// The lengths of a request whose model says which axes may be padded (batching::padding).

#include "actors/served_model.hpp"

#include <cstddef>

namespace troupe::actors {

/// Whether the client did not send this input, and nobody has filled it yet.
[[nodiscard]] bool left_out(const named_tensor& input) noexcept;

/// Whether an input tells what is real from what is padded: left out, it is made.
[[nodiscard]] bool is_mask(const served_model& model, std::size_t input);

/// Sets the job's lengths. The inputs are in the signature's order, with the axes it declares. All
/// that share a length have it, otherwise invalid_argument.
[[nodiscard]] result<void> read_lengths(job::impl& asked);

/// Whether any length is not one that batches are formed for. After `read_lengths`.
[[nodiscard]] bool is_padded(const job::impl& asked);

/// Sets what the inputs are padded to and the key of those that may run with it. Once all inputs
/// are there.
void set_key(job::impl& asked);

} // namespace troupe::actors
