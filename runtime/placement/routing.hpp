#pragma once

#include "runtime/placement/load.hpp"

#include <cstdint>
#include <span>

namespace troupe::placement {

/// Index of the placement that would answer `rows` rows first; the first of equals. Not empty.
[[nodiscard]] std::size_t earliest(std::span<const load* const> placements, std::int64_t rows,
                                   time_point now);

} // namespace troupe::placement
