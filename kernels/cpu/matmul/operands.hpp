#pragma once

#include "kernels/cpu/candidate.hpp"

#include <string>

namespace troupe::cpu {

/// Why the fast products cannot take the node's two operands and its output, or nothing: another
/// type than FP32, another layout than row-major, or an empty tensor.
[[nodiscard]] std::string unsupported_product(const kernel_spec& spec);

} // namespace troupe::cpu
