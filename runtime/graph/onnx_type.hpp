#pragma once

#include "kernels/tensor/dtype.hpp"

#include <cstdint>

namespace troupe::graph {

/// The dtype of ONNX's TensorProto.DataType number, as initializers, value types and Cast's `to`
/// write it; unimplemented for those Troupe has none for (complex, 8-bit floats, 4-bit integers),
/// invalid_argument for 0.
[[nodiscard]] result<dtype> dtype_of_onnx(std::int64_t number);

/// The inverse.
[[nodiscard]] std::int64_t onnx_number(dtype type) noexcept;

} // namespace troupe::graph
