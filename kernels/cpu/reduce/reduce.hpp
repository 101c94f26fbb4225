#pragma once

#include "kernels/cpu/candidate.hpp"

#include <vector>

namespace troupe::cpu {

/// Which axes a reduction runs over: from the attribute, or from the second input where the
/// operator's version has one (ReduceSum since 13, the others since 18), which must be an
/// initializer. `reduced[a]` for every axis of the input. The reason when an axis is out of range
/// or not known.
[[nodiscard]] tl::expected<std::vector<bool>, std::string> reduced_axes(const kernel_spec& spec);

} // namespace troupe::cpu
