#pragma once

#include "runtime/placement/load.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace troupe::placement {

/// Index of the placement that would answer `rows` rows first; the first of equals. Not empty.
[[nodiscard]] std::size_t earliest(std::span<const load* const> placements, std::int64_t rows,
                                   time_point now);

/// Version numbers are the names of a model's version folders.
/// Index of the version asked for, or, if `asked` is empty, of the highest number.
[[nodiscard]] std::optional<std::size_t> choose_version(std::span<const std::string> versions,
                                                        std::string_view asked);

} // namespace troupe::placement
