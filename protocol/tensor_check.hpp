#pragma once

#include "protocol/inference.hpp"

#include <cstdint>
#include <span>

namespace troupe::protocol {

/// Most axes of a tensor that a client may send.
inline constexpr std::size_t max_rank = 16;

/// Whether a tensor that claims so many bytes on a wire can be: not too many axes, no negative
/// size, no overflow, and for every type but BYTES exactly the bytes of its elements. BYTES need at
/// least four for each. invalid_argument names the tensor.
[[nodiscard]] result<void> check_claim(const std::string& name, dtype type,
                                       std::span<const std::int64_t> dims, std::uint64_t bytes);

/// As `check_claim` for a tensor whose data is there, and looks at the data where not every byte is
/// a value: BOOL is 0 or 1, the elements of BYTES fill it exactly.
[[nodiscard]] result<void> check_tensor(const named_tensor& checked);

/// Takes `priority` (0 to 2^32-1) and `timeout` (microseconds, 0 = none given) from the request's
/// parameters into its own fields. invalid_argument if they are of another type or range.
[[nodiscard]] result<void> apply_parameters(inference_request& request, time_point now);

} // namespace troupe::protocol
