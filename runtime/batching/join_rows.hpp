#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"

#include <span>

namespace troupe::batching {

/// The rows of all parts (at least one) behind each other along axis 0. invalid_argument where
/// their types, or their sizes along the other axes, differ. Throws std::bad_alloc.
[[nodiscard]] result<tensor> join_rows(std::span<const tensor* const> parts);

} // namespace troupe::batching
