#pragma once

#include "runtime/graph/infer/inference.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::graph {

/// What Slice takes of one axis, as the node writes it: negative positions count from the end.
struct slice_bounds {
  std::size_t axis = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};

/// The bounds of a Slice node in either form (attributes before opset 10, inputs since); nothing
/// while they are not constant. Input 0 has a known rank.
[[nodiscard]] result<std::optional<std::vector<slice_bounds>>> slice_bounds_of(const inference& at);

/// First index and number of elements taken from an axis of `size` elements.
struct slice_extent {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
[[nodiscard]] slice_extent extent_of(const slice_bounds& cut, std::int64_t size) noexcept;

/// Whether every element is taken in order, whatever the size of the axis.
[[nodiscard]] bool takes_all(const slice_bounds& cut) noexcept;

[[nodiscard]] dim slice_size(const slice_bounds& cut, dim of, graph& symbols);

} // namespace troupe::graph
