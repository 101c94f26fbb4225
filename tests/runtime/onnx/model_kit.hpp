#pragma once

#include "runtime/graph/graph.hpp"
#include "runtime/onnx/onnx.pb.h"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace troupe::test {

/// A model of opset 17 with an empty graph.
onnx::ModelProto empty_model();

onnx::NodeProto* add_node(onnx::ModelProto& to, const std::string& op_type,
                          std::initializer_list<std::string> inputs,
                          std::initializer_list<std::string> outputs);
void add_attribute(onnx::NodeProto& to, const std::string& name, std::int64_t value);

/// A float32 input or output; a dim of "" is left without a value, digits are a size, else a name.
void add_input(onnx::ModelProto& to, const std::string& name, std::vector<std::string> dims);
void add_output(onnx::ModelProto& to, const std::string& name);

onnx::TensorProto* add_initializer(onnx::ModelProto& to, const std::string& name,
                                   std::int32_t data_type, std::vector<std::int64_t> dims);
/// Our schema has no raw_data field: this writes it as the wire format does.
void set_raw_data(onnx::TensorProto& to, const std::string& bytes);

/// x -> Relu -> y.
onnx::ModelProto relu_model();

result<graph::graph> import(const onnx::ModelProto& model,
                            const std::filesystem::path& directory = {});
/// Whether the import fails with this code and a text that holds all of `parts`.
bool fails(const onnx::ModelProto& model, errc code, std::initializer_list<std::string> parts,
           const std::filesystem::path& directory = {});

const graph::value* find_value(const graph::graph& in, const std::string& name);

/// A directory of its own that goes away with the object.
class scratch_directory {
public:
  scratch_directory();
  ~scratch_directory();
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  const std::filesystem::path path;
  std::filesystem::path write(const std::string& name, const std::string& bytes) const;
};

} // namespace troupe::test
