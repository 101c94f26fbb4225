#pragma once

#include "runtime/plan/plan.hpp"

#include <cstdint>
#include <memory>

namespace troupe::exec {

/// A plan that runs `of_part` for each of `rows` rows: rows are shared out over the device's
/// threads, and one thread computes a row from end to end, so that its bits depend neither on the
/// other rows nor on how many threads there are. `of_part` is made for one thread. For several rows
/// it is made for one row, along axis 0 of all its inputs and outputs; for one it takes whatever it
/// takes.
[[nodiscard]] std::shared_ptr<const plan::plan>
row_by_row(std::shared_ptr<const plan::plan> of_part, std::int64_t rows, int threads);

} // namespace troupe::exec
