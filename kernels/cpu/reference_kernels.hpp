#pragma once

#include "kernels/cpu/candidate.hpp"

namespace troupe::cpu {

// The reference kernels: one plain, single-threaded definition of every operator, at the end of its
// row in the candidate table. They read and write row-major and channels-last tensors wherever
// layout_rules.cpp lets an operator meet both.

made_kernel make_reference_identity(const kernel_spec& spec, weight_cache& weights);

} // namespace troupe::cpu
