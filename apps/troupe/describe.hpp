#pragma once

#include "kernels/tensor/tensor.hpp"

#include <cstddef>
#include <string>

namespace troupe::cli {

/// A tensor for a terminal: datatype, shape and the first elements. Strings are quoted; bytes that
/// are not printable ASCII or UTF-8 are shown as their number.
[[nodiscard]] std::string describe(const tensor& shown, std::size_t most_elements = 8);

} // namespace troupe::cli
