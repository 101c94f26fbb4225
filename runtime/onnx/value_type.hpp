#pragma once

#include "kernels/base/result.hpp"
#include "runtime/graph/graph.hpp"

namespace troupe::onnx {

class TensorShapeProto;
class TypeProto;

/// A declared type: of a tensor, of a sequence of tensors, or of an optional of either.
struct value_type {
  graph::value_kind kind = graph::value_kind::tensor;
  dtype type = dtype::float32;
  const TensorShapeProto* dims = nullptr; ///< of a tensor, if it has a shape
};

/// unimplemented for maps, sparse tensors and deeper nesting.
[[nodiscard]] result<value_type> read_type(const TypeProto& from);

} // namespace troupe::onnx
