#pragma once

#include "runtime/batching/padding.hpp"
#include "runtime/exec/signature.hpp"
#include "runtime/repository/layout.hpp"

namespace troupe::repository {

/// The lengths that `troupe.pad.NAME.*` parameters declare, against a model's signature as it is
/// configured: `.inputs` ("ids:1, mask:1=0": input, axis with the batch axis counted, value),
/// `.outputs` ("logits:1, frames:2/4": output, axis, divisor), `.lengths` ("16,32,64"), `.mask` (an
/// input). Where NAME is a symbol of the model, its axes need not be listed. invalid_argument names
/// the parameter.
[[nodiscard]] result<batching::padding> padding_of(const model_folder& of, const signature& io);

/// Whether a parameter is one of these.
[[nodiscard]] bool is_padding_parameter(std::string_view key) noexcept;

} // namespace troupe::repository
