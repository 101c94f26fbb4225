#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/strided_copy.hpp"

#include <vector>

namespace troupe::cpu {

/// One part of a concatenation: a box, and where in the whole it begins.
struct concat_part {
  strided_box box; ///< simplified
  std::size_t offset_bytes = 0;
};

/// How `pieces` lie side by side in `whole` along an axis as written, each in its own strided
/// layout. `gathering` copies from the pieces to the whole, else back.
[[nodiscard]] tl::expected<std::vector<concat_part>, std::string>
concat_parts(const tensor_desc& whole, const std::vector<tensor_desc>& pieces,
             std::int64_t written_axis, bool gathering);

} // namespace troupe::cpu
