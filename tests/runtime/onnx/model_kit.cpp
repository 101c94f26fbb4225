#include "tests/runtime/onnx/model_kit.hpp"

#include "runtime/onnx/import.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <span>

namespace troupe::test {

namespace {

void set_type(onnx::ValueInfoProto& to, const std::vector<std::string>& dims) {
  auto* type = to.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape();
  for (const auto& size : dims) {
    auto* axis = type->mutable_shape()->add_dim();
    const bool number = !size.empty() && (std::isdigit(size.back()) != 0);
    if (number)
      axis->set_dim_value(std::stoll(size));
    else if (!size.empty())
      axis->set_dim_param(size);
  }
}

} // namespace

onnx::ModelProto empty_model() {
  onnx::ModelProto made;
  made.set_ir_version(8);
  made.add_opset_import()->set_version(17);
  made.mutable_graph()->set_name("test");
  return made;
}

onnx::NodeProto* add_node(onnx::ModelProto& to, const std::string& op_type,
                          std::initializer_list<std::string> inputs,
                          std::initializer_list<std::string> outputs) {
  auto* added = to.mutable_graph()->add_node();
  added->set_op_type(op_type);
  for (const auto& name : inputs)
    added->add_input(name);
  for (const auto& name : outputs)
    added->add_output(name);
  return added;
}

void add_attribute(onnx::NodeProto& to, const std::string& name, std::int64_t value) {
  auto* added = to.add_attribute();
  added->set_name(name);
  added->set_type(onnx::AttributeProto::INT);
  added->set_i(value);
}

void add_input(onnx::ModelProto& to, const std::string& name, std::vector<std::string> dims) {
  auto* added = to.mutable_graph()->add_input();
  added->set_name(name);
  set_type(*added, dims);
}

void add_output(onnx::ModelProto& to, const std::string& name) {
  to.mutable_graph()->add_output()->set_name(name);
}

onnx::TensorProto* add_initializer(onnx::ModelProto& to, const std::string& name,
                                   std::int32_t data_type, std::vector<std::int64_t> dims) {
  auto* added = to.mutable_graph()->add_initializer();
  added->set_name(name);
  added->set_data_type(data_type);
  for (auto size : dims)
    added->add_dims(size);
  return added;
}

void set_raw_data(onnx::TensorProto& to, const std::string& bytes) {
  auto& fields = *to.mutable_unknown_fields();
  fields.push_back(static_cast<char>(9 << 3 | 2));
  auto size = bytes.size();
  for (; size >= 0x80; size >>= 7)
    fields.push_back(static_cast<char>(size | 0x80));
  fields.push_back(static_cast<char>(size));
  fields += bytes;
}

onnx::ModelProto relu_model() {
  auto made = empty_model();
  add_input(made, "x", {"2", "3"});
  add_node(made, "Relu", {"x"}, {"y"});
  add_output(made, "y");
  return made;
}

result<graph::graph> import(const onnx::ModelProto& model, const std::filesystem::path& directory) {
  const auto bytes = model.SerializeAsString();
  return onnx::import_bytes(copy_of(std::as_bytes(std::span{bytes})), directory);
}

bool fails(const onnx::ModelProto& model, errc code, std::initializer_list<std::string> parts,
           const std::filesystem::path& directory) {
  const auto imported = import(model, directory);
  if (imported) {
    BOOST_TEST_MESSAGE("the import did not fail");
    return false;
  }
  BOOST_TEST_MESSAGE(to_string(imported.error()));
  return imported.error().code == code
         && std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
              return imported.error().text.find(part) != std::string::npos;
            });
}

const graph::value* find_value(const graph::graph& in, const std::string& name) {
  const auto found = std::find_if(in.values.begin(), in.values.end(),
                                  [&](const graph::value& value) { return value.name == name; });
  return found == in.values.end() ? nullptr : &*found;
}

scratch_directory::scratch_directory()
    : path{[] {
        auto pattern = (std::filesystem::temp_directory_path() / "troupe-onnx-XXXXXX").string();
        return std::filesystem::path{::mkdtemp(pattern.data())};
      }()} {}

scratch_directory::~scratch_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::filesystem::path scratch_directory::write(const std::string& name,
                                               const std::string& bytes) const {
  std::ofstream{path / name, std::ios::binary} << bytes;
  return path / name;
}

} // namespace troupe::test
