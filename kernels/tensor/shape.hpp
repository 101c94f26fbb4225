#pragma once

#include "kernels/base/result.hpp"
#include "kernels/base/small_vector.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace troupe {

/// Sizes of a tensor's axes, outermost first; every size is known and not negative. Rank 0 is a
/// scalar. Up to six axes live without an allocation.
using shape = small_vector<std::int64_t, 6>;

/// Number of elements: 1 for a scalar, 0 if any axis is empty. The caller knows it does not
/// overflow.
[[nodiscard]] std::int64_t element_count(std::span<const std::int64_t> dims) noexcept;

/// As `element_count`, for sizes nobody has checked: invalid_argument on a negative size, on
/// overflow and on more than `limit` elements.
[[nodiscard]] result<std::int64_t> checked_element_count(std::span<const std::int64_t> dims,
                                                         std::int64_t limit = std::int64_t{1}
                                                                              << 40);

/// "[1,3,224,224]".
[[nodiscard]] std::string to_string(std::span<const std::int64_t> dims);

/// Elements between neighbours along each axis, row-major.
[[nodiscard]] shape row_major_strides(std::span<const std::int64_t> dims);

} // namespace troupe
