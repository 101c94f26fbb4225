#pragma once

#include "kernels/tensor/tensor.hpp"

#include <string>

namespace troupe::conformance {

/// What sets a result apart from the expected one; empty if nothing does. Numbers may differ by
/// 1e-7 + 1e-3 |expected|, which is what ONNX's own runner allows; NaN equals NaN.
[[nodiscard]] std::string compare(const tensor& found, const tensor& expected);

} // namespace troupe::conformance
