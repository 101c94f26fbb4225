#pragma once

#include "runtime/plan/plan.hpp"

#include <cstddef>

namespace troupe::exec {

/// About how much memory goes when this plan goes: steps, constants that nobody else holds, the
/// machine code that oneDNN generated for it, and one run state. Not the weights and the arena,
/// which are shared and booked elsewhere.
[[nodiscard]] std::size_t plan_bytes(const plan::plan& of) noexcept;

} // namespace troupe::exec
