#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/spatial.hpp"

namespace troupe::cpu {

/// A window that moves over the spatial axes of one channel at a time: what the pooling operators
/// share. One to three spatial axes, any strided layout.
struct pool_geometry {
  spatial input;
  spatial output;
  spatial_window moves;
  bool count_padding = false; ///< of AveragePool

  /// Taps that an average divides by. A window that ceil_mode pushed beyond the padded input counts
  /// only what lies within it.
  [[nodiscard]] std::int64_t counted(const spatial_index& place) const;
};

/// From the node's input and attributes; the reason when they do not fit.
[[nodiscard]] tl::expected<pool_geometry, std::string> pool_geometry_of(const kernel_spec& spec);

/// Calls `use(image, channel)` for every plane of the output, the planes shared among the team.
template <class Use>
void for_each_plane(const pool_geometry& over, int threads, const Use& use) {
  const auto& sizes = over.output.sizes;
  const auto& taps = over.moves.kernel;
  const auto cost = sizes[0] * sizes[1] * sizes[2] * taps[0] * taps[1] * taps[2];
  parallel_for(threads, over.output.images * over.output.channels, cost,
               [&](std::int64_t begin, std::int64_t end) {
                 for (auto plane = begin; plane < end; ++plane)
                   use(plane / over.output.channels, plane % over.output.channels);
               });
}

} // namespace troupe::cpu
