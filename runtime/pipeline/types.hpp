#pragma once

// Whether what one step gives is what the next one takes.

#include "runtime/exec/signature.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace troupe::pipeline {

/// "FP32 [-1,4]".
[[nodiscard]] std::string to_text(const tensor_signature& of);

/// Whether a tensor can be given to a model's port, as far as is known before a request. `rows`:
/// the port gets so many rows of it at a time.
[[nodiscard]] bool fits(const tensor_signature& given, const tensor_signature& port,
                        std::optional<std::int64_t> rows);

/// A port as whoever gives it `rows` rows of a tensor sees that tensor: of any number of rows.
[[nodiscard]] tensor_signature before_cut(tensor_signature port);

/// Takes over the sizes that `port` knows and `into` does not. Of the same rank.
void narrow(tensor_signature& into, const tensor_signature& port);

/// What is known of a tensor that is either the one or the other, of the same type.
[[nodiscard]] tensor_signature either(tensor_signature one, const tensor_signature& other);

} // namespace troupe::pipeline
