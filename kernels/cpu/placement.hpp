#pragma once

#include "kernels/tensor/tensor.hpp"

namespace troupe::cpu {

/// Channels-last, or indistinguishable from it: a tensor of one channel or of one position lies the
/// same way in both layouts.
[[nodiscard]] bool lies_channels_last(const tensor_desc& desc) noexcept;

/// Row-major, or indistinguishable from it.
[[nodiscard]] bool lies_row_major(const tensor_desc& desc) noexcept;

} // namespace troupe::cpu
