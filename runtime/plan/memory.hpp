#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace troupe::plan {

/// A block of memory needed from step `first` to step `last`, both included.
struct lifetime {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t bytes = 0;
};

/// Where each block lies in one arena; every offset is a multiple of `tensor_alignment`.
struct packing {
  std::vector<std::size_t> offsets; ///< in the order of the lifetimes
  std::size_t total = 0;            ///< bytes of the arena, a multiple of `tensor_alignment`
};

/// Gives blocks whose lifetimes meet disjoint ranges: largest block first, each into the smallest
/// gap between those already placed that meet it. Deterministic. Empty blocks lie at 0.
[[nodiscard]] packing pack(std::span<const lifetime> blocks);

/// The largest sum of aligned bytes alive at one step: no packing is smaller.
[[nodiscard]] std::size_t live_bound(std::span<const lifetime> blocks);

} // namespace troupe::plan
