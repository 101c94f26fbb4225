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

/// The parts of a Concat node: its inputs, copied into output 0. The reason when they are strings,
/// do not fit together or lie in a blocked layout.
[[nodiscard]] tl::expected<std::vector<concat_part>, std::string>
parts_of_concat(const kernel_spec& spec);

/// The same of a Split node: its outputs, copied from input 0.
[[nodiscard]] tl::expected<std::vector<concat_part>, std::string>
parts_of_split(const kernel_spec& spec);

} // namespace troupe::cpu
