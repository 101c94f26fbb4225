#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/strided_copy.hpp"

namespace troupe::cpu {

/// A Transpose as a strided copy with as few loops as it needs, in the output's order.
[[nodiscard]] tl::expected<strided_box, std::string> transposed_box(const kernel_spec& spec);

} // namespace troupe::cpu
