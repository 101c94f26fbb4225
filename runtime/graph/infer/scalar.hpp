#pragma once

#include "runtime/graph/infer/inference.hpp"

#include <optional>

namespace troupe::graph {

/// The number that an input of one element holds, of any numeric type; nothing while its content is
/// not known.
[[nodiscard]] std::optional<double> scalar_in(const inference& at, std::size_t input);

} // namespace troupe::graph
