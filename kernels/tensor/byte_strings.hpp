#pragma once

// The elements of a `string` tensor in KServe's binary form: each a 4-byte little-endian length,
// then that many bytes.

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A tensor of rank 1 that owns a copy of the elements. invalid_argument if one of them has 4 GiB
/// or more. Throws std::bad_alloc.
[[nodiscard]] result<tensor> pack_strings(std::span<const std::string> elements);

/// Views into the tensor's data, in order, valid as long as it is. invalid_argument if the type is
/// not `string`, if a length points past the end, or if the number of elements differs from the
/// dims'.
[[nodiscard]] result<std::vector<std::string_view>> unpack_strings(const tensor& packed);

} // namespace troupe
