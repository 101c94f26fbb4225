#pragma once

// Tensors as JSON arrays. Private to protocol/: includes simdjson.

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"

#include <simdjson.h>

#include <string>
#include <string_view>

namespace troupe::protocol::rest {

/// The elements of `data`, nested in any way, in row-major order. `json_bytes` is the length of the
/// document, which bounds how many elements it can hold. Integers out of the type's range, numbers
/// beyond the largest float, fractions for integers and a wrong count are invalid_argument, and so
/// are FP16 and BF16: send them in binary. "NaN", "Infinity" and "-Infinity" stand for those
/// floats. `name` is for errors.
[[nodiscard]] result<shared_bytes> read_elements(std::string_view name, simdjson::dom::element data,
                                                 dtype type, const shape& dims,
                                                 std::size_t json_bytes);

/// Appends the elements as one flat array. Floats in the shortest form that reads back the same.
/// failed_precondition for FP16, BF16 and for BYTES that are not UTF-8: ask for them in binary.
[[nodiscard]] result<void> append_elements(std::string& to, std::string_view name,
                                           const tensor& from);

} // namespace troupe::protocol::rest
