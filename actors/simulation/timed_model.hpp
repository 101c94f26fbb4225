#pragma once

// A model that computes nothing and takes the time it is told to.

#include "actors/simulation/scenario.hpp"
#include "runtime/placement/executable.hpp"

#include <memory>

namespace troupe::actors::simulation {

/// Its one input `x` is UINT8 [rows, n], where n - 1 is the number of the shape. Plans are there
/// for every size; sizes are rounded up to powers of two, like the engine's. `on`: a simulated
/// device. Not thread-safe.
[[nodiscard]] std::shared_ptr<placement::executable> make_timed_model(std::shared_ptr<device> on,
                                                                      run_cost cost);

/// A request's input for such a model.
[[nodiscard]] tensor timed_input(std::size_t shape, std::int64_t rows);

} // namespace troupe::actors::simulation
