#pragma once

// What may be done to a model's outputs before they leave: plain functions on tensors.

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace troupe::actors {

/// Softmax over the last axis of a float32 tensor of rank 1 or more, into memory of its own.
[[nodiscard]] result<tensor> softmax(const tensor& logits);

/// KServe's classification extension: of each row (axis 0 if `batched`, otherwise the whole tensor)
/// the `top` largest values as BYTES "value:index" or "value:index:label", largest first, equal
/// ones by index. The result has dims [rows, n], or [n] if not batched; n <= top.
[[nodiscard]] result<tensor> classify(const tensor& scores, std::int64_t top,
                                      std::span<const std::string> labels, bool batched);

} // namespace troupe::actors
