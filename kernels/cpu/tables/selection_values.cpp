// Operators that select: how much they give depends on the elements.

#include "kernels/cpu/tables/value_table.hpp"

#include "kernels/cpu/value_kernels.hpp"

#include <array>

namespace troupe::cpu {

namespace {

constexpr std::array operators{
    value_entry{"", "Compress", run_compress},
    value_entry{"", "NonMaxSuppression", run_non_max_suppression},
    value_entry{"", "NonZero", run_non_zero},
    value_entry{"", "Unique", run_unique},
};

} // namespace

std::span<const value_entry> selection_value_kernels() {
  return operators;
}

} // namespace troupe::cpu
