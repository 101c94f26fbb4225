#pragma once

#include "kernels/base/result.hpp"
#include "kernels/op/attributes.hpp"
#include "runtime/onnx/tensor_reader.hpp"

#include <memory>

namespace troupe::onnx {

class NodeProto;

/// A node's attributes, types checked for the names the default domain uses (an `axis` is an
/// integer whatever the operator). A type is the number of its elements' type and whether it is a
/// sequence; subgraphs are left to whoever reads the graph. unimplemented for sparse tensors.
[[nodiscard]] result<attribute_map> read_attributes(const NodeProto& of, tensor_reader& tensors);

/// What a Constant node (opset 1 to 25) stands for, given its attributes.
[[nodiscard]] result<std::shared_ptr<const tensor>> constant_value(const attribute_map& attributes);

} // namespace troupe::onnx
