#pragma once

// The model of tests that run the real engine: y = Relu(x) in float32, x of [batch, columns].

#include "runtime/onnx/onnx.pb.h"

#include <cstdint>
#include <optional>
#include <string>

namespace troupe::test {

/// An ONNX file; rows have any length without `columns`.
inline std::string relu_model(std::optional<std::int64_t> columns = {}) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  auto* graph = model.mutable_graph();
  graph->set_name("relu");
  const auto describe = [&](onnx::ValueInfoProto& value, const std::string& name) {
    value.set_name(name);
    auto* tensor = value.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(1);
    tensor->mutable_shape()->add_dim()->set_dim_param("batch");
    auto* second = tensor->mutable_shape()->add_dim();
    if (columns)
      second->set_dim_value(*columns);
    else
      second->set_dim_param("n");
  };
  describe(*graph->add_input(), "x");
  describe(*graph->add_output(), "y");
  auto* node = graph->add_node();
  node->set_op_type("Relu");
  node->add_input("x");
  node->add_output("y");
  return model.SerializeAsString();
}

} // namespace troupe::test
