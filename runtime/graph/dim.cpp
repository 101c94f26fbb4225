#include "runtime/graph/dim.hpp"

namespace troupe::graph {

std::optional<shape> concrete(std::span<const dim> dims) {
  shape sizes;
  for (const auto& axis : dims) {
    if (!axis.known())
      return std::nullopt;
    sizes.push_back(axis.size());
  }
  return sizes;
}

symbolic_shape symbolic(std::span<const std::int64_t> dims) {
  return {dims.begin(), dims.end()};
}

} // namespace troupe::graph
