#pragma once

#include "kernels/device/kernel.hpp"

#include <optional>

namespace troupe::plan {

/// Floating-point operations (of quantised operators: integer ones) that the operator's definition
/// takes, a multiply and an add being two: of convolutions, matrix products, recurrent layers and
/// attention, whose work is products. A kernel may get by with fewer. Nothing for other operators.
[[nodiscard]] std::optional<double> flops_of(const kernel_spec& spec);

} // namespace troupe::plan
