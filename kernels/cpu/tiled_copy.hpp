#pragma once

#include "kernels/cpu/iteration.hpp"
#include "kernels/cpu/strided_copy.hpp"

#include <optional>

namespace troupe::cpu {

/// A strided copy made fast: cut over a thread team, and, where the innermost axes of source and
/// target differ (a transposition), moved in small square tiles that touch whole cache lines on
/// both sides.
class tiled_copy {
public:
  tiled_copy(const strided_box& box, int threads);

  /// On the calling thread's team. Allocates nothing for up to six axes.
  void run(const std::byte* from, std::byte* to) const;

private:
  void run_tiles(const std::byte* from, std::byte* to) const;

  strided_box box_; ///< simplified
  std::optional<std::size_t>
      row_;          ///< the loop along which the source is contiguous, if not the last
  iteration planes_; ///< the loops around those two, where there is a row
  int threads_;
};

} // namespace troupe::cpu
