#pragma once

#include "runtime/graph/infer/inference.hpp"

namespace troupe::graph {

/// Dims of the product of the matrices in two inputs, as numpy.matmul: a vector is a row on the
/// left and a column on the right, and that axis leaves the result; leading axes broadcast. Nothing
/// if the rank of one is not known.
[[nodiscard]] result<std::optional<symbolic_shape>> matmul_dims(inference& at, std::size_t left,
                                                                std::size_t right);

/// Dims of a convolution of input `data` with `weight` by the node's attributes; nothing if the
/// rank of one is not known.
[[nodiscard]] result<std::optional<symbolic_shape>> conv_dims(inference& at, std::size_t data,
                                                              std::size_t weight, std::size_t bias);

} // namespace troupe::graph
