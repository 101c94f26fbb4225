#pragma once

#include "kernels/tensor/tensor.hpp"

#include <variant>
#include <vector>

namespace troupe {

/// ONNX's sequence: tensors of one element type, in order, each with dims of its own.
struct tensor_sequence {
  dtype type = dtype::float32;
  std::vector<tensor> elements;
};

/// What flows between operators that do not work in planned memory. Nothing stands for an optional
/// input left out and for an empty optional; an optional that holds something is what it holds.
using datum = std::variant<std::monostate, tensor, tensor_sequence>;

} // namespace troupe
