#include "runtime/onnx/value_type.hpp"

#include "runtime/graph/onnx_type.hpp"
#include "runtime/onnx/onnx.pb.h"

namespace troupe::onnx {

namespace {

using graph::value_kind;

value_kind optional_of(value_kind held) {
  return held == value_kind::sequence ? value_kind::optional_sequence : value_kind::optional_tensor;
}

result<value_type> read_tensor(const TypeProto::Tensor& from) {
  auto type = graph::dtype_of_onnx(from.elem_type());
  if (!type)
    return propagate(type);
  return value_type{value_kind::tensor, *type, from.has_shape() ? &from.shape() : nullptr};
}

} // namespace

result<value_type> read_type(const TypeProto& from) {
  const auto* held = &from;
  const bool optional = from.has_optional_type();
  if (optional)
    held = &from.optional_type().elem_type();
  const bool sequence = held->has_sequence_type();
  if (sequence)
    held = &held->sequence_type().elem_type();
  if (!held->has_tensor_type())
    return fail(errc::unimplemented,
                "a tensor, a sequence of tensors or an optional of these expected");
  auto made = read_tensor(held->tensor_type());
  if (!made)
    return made;
  if (sequence) {
    made->kind = value_kind::sequence;
    made->dims = nullptr;
  }
  if (optional)
    made->kind = optional_of(made->kind);
  return made;
}

} // namespace troupe::onnx
