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
  element start;
  element end;
  std::int64_t step = 1;

  [[nodiscard]] bool are_numbers() const noexcept { return start.is_number() && end.is_number(); }
};

/// The bounds of a Slice node in either form (attributes before opset 10, inputs since); nothing
/// while axes or steps are not constant. Input 0 has a known rank.
[[nodiscard]] result<std::optional<std::vector<slice_bounds>>> slice_bounds_of(const inference& at);

/// First index and number of elements taken from an axis of `size` elements; only if `are_numbers`.
struct slice_extent {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
[[nodiscard]] slice_extent extent_of(const slice_bounds& cut, std::int64_t size) noexcept;

/// Whether every element of an axis of size `of` is taken in order.
[[nodiscard]] bool takes_all(const slice_bounds& cut, dim of) noexcept;

[[nodiscard]] dim slice_size(const slice_bounds& cut, dim of, graph& symbols);

} // namespace troupe::graph
