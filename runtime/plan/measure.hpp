#pragma once

#include "kernels/device/device.hpp"

#include <chrono>
#include <optional>

namespace troupe::plan {

/// The shortest of a few runs of `what` on inputs made up for `spec` (constants as they are);
/// nothing if it fails or its first run takes longer than `limit`. Blocks; takes some milliseconds.
[[nodiscard]] std::optional<std::chrono::nanoseconds>
measure(const kernel& what, const kernel_spec& spec, device& on, std::chrono::nanoseconds limit);

} // namespace troupe::plan
