#pragma once

#include "kernels/cpu/value_kernel.hpp"

#include <span>

namespace troupe::cpu {

/// The families that value_kernel_table.cpp joins; an operator stands in one of them.
[[nodiscard]] std::span<const value_entry> sequence_value_kernels();
[[nodiscard]] std::span<const value_entry> label_value_kernels();
[[nodiscard]] std::span<const value_entry> selection_value_kernels();
[[nodiscard]] std::span<const value_entry> text_value_kernels();

} // namespace troupe::cpu
