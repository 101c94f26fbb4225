#pragma once

#include "actors/commons.hpp"
#include "actors/messages.hpp"

#include <cstdint>
#include <vector>

namespace troupe::actors {

/// Cuts a job with more rows than a batch may have into parts of at most `most` rows, in order,
/// which share its memory, units, deadline and cancellation. Its answer is theirs put together, or
/// the first error among them, which ends the others. The parts keep the job alive.
[[nodiscard]] std::vector<job_ptr> split(const commons_ptr& shared, const job_ptr& whole,
                                         std::int64_t most);

} // namespace troupe::actors
