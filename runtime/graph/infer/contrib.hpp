#pragma once

#include <string_view>

namespace troupe::graph {

/// The domain of operators that ONNX Runtime added.
inline constexpr std::string_view contrib = "com.microsoft";

} // namespace troupe::graph
