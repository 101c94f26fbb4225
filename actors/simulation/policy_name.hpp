#pragma once

#include "kernels/base/result.hpp"
#include "runtime/batching/policy.hpp"

#include <string_view>

namespace troupe::actors::simulation {

/// The policy of a name: a preset ("auto", "latency", "throughput"), "none" (no batching), or
/// "fixed:SIZE:DELAY", which waits for SIZE rows, but not longer than DELAY milliseconds; what has
/// gathered meanwhile leaves together. invalid_argument says what was expected.
[[nodiscard]] result<batching::policy> policy_named(std::string_view name);

} // namespace troupe::actors::simulation
