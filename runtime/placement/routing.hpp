#pragma once

#include "runtime/placement/load.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace troupe::placement {

/// Index of the placement that would answer a request first; the first of equals. Not empty. One
/// whose device is down comes after all others. One on which nothing ran lately is taken to be as
/// fast as the fastest that did: so each is tried, and tried again after a bad time, and one slow
/// run does not keep requests away for ever. Where nothing ran at all, the one with the least rows
/// before it.
[[nodiscard]] std::size_t earliest(std::span<const load* const> placements, std::size_t shape,
                                   std::int64_t rows, time_point now);

/// Index of the placement from which `idle`, one of them that has nothing to do, should take over
/// waiting rows: the one that is furthest behind among those that are busy or down, if `idle` would
/// be through with them no later. At most `most` rows are taken.
[[nodiscard]] std::optional<std::size_t> to_relieve(std::span<const load* const> placements,
                                                    std::size_t idle, std::int64_t most,
                                                    time_point now);

} // namespace troupe::placement
