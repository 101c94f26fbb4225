#include "runtime/onnx/import.hpp"

#include "runtime/graph/onnx_type.hpp"
#include "runtime/onnx/attribute_reader.hpp"
#include "runtime/onnx/function_inliner.hpp"
#include "runtime/onnx/node_order.hpp"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/skeleton.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace troupe::onnx {

namespace {

class graph_builder {
public:
  graph_builder(const ModelProto& model, byte_source& source, external_places places)
      : model_{model}, functions_{model}, tensors_{source, std::move(places)} {}

  result<graph::graph> build() {
    built_.name = model_.graph().name();
    built_.producer = model_.producer_name();
    if (!model_.producer_version().empty())
      built_.producer += " " + model_.producer_version();
    for (const auto& entry : model_.metadata_props())
      built_.metadata[entry.key()] = entry.value();
    for (auto step : {&graph_builder::add_initializers, &graph_builder::add_inputs,
                      &graph_builder::add_nodes, &graph_builder::add_outputs})
      if (auto done = (this->*step)(); !done)
        return propagate(done);
    return std::move(built_);
  }

private:
  result<void> add_initializers() {
    if (model_.graph().sparse_initializer_size() > 0)
      return fail(errc::unimplemented, "sparse initializers are not supported");
    for (const auto& stored : model_.graph().initializer()) {
      if (stored.name().empty())
        return fail(errc::invalid_argument, "an initializer has no name");
      auto read = tensors_.read(stored);
      if (!read)
        return propagate(read);
      if (auto added = add_constant(stored.name(), std::move(*read)); !added)
        return added;
    }
    return {};
  }

  result<void> add_inputs() {
    std::unordered_set<std::string> seen;
    for (const auto& declared : model_.graph().input()) {
      if (declared.name().empty() || !seen.insert(declared.name()).second)
        return fail(errc::invalid_argument, "graph input '{}' has no name or that of another",
                    declared.name());
      if (ids_.contains(declared.name()))
        continue; // an initializer with a declaration: IR versions before 4 ask for one
      auto made = declared_value(declared, "graph input");
      if (!made)
        return propagate(made);
      ids_[declared.name()] = built_.add_value(std::move(*made));
      built_.inputs.push_back(ids_[declared.name()]);
    }
    return {};
  }

  result<void> add_nodes() {
    auto flat = functions_.flatten();
    if (!flat)
      return propagate(flat);
    std::unordered_set<std::string> known;
    for (const auto& [name, id] : ids_)
      known.insert(name);
    auto ordered = in_topological_order(*flat, known);
    if (!ordered)
      return propagate(ordered);
    for (const auto& next : *ordered)
      if (auto added = add_node(next); !added)
        return fail(added.error().code, "{}: {}", describe(*next.proto), added.error().text);
    return {};
  }

  result<void> add_node(const scoped_node& from) {
    graph::node made;
    made.domain = normal_domain(from.proto->domain());
    made.op_type = from.proto->op_type();
    auto version = opset_of(made.domain, *from.opsets);
    if (!version)
      return propagate(version);
    made.version = *version;
    auto attributes = read_attributes(*from.proto, tensors_);
    if (!attributes)
      return propagate(attributes);
    made.attributes = std::move(*attributes);
    if (made.domain.empty() && made.op_type == "Constant")
      return fold_constant(*from.proto, made.attributes);
    for (const auto& name : from.proto->input())
      made.inputs.push_back(name.empty() ? graph::no_value : ids_.at(name));
    while (!made.inputs.empty() && made.inputs.back() == graph::no_value)
      made.inputs.pop_back();
    for (const auto& name : from.proto->output()) {
      made.outputs.push_back(graph::no_value);
      if (!name.empty())
        ids_[name] = made.outputs.back() = built_.add_value({.name = name});
    }
    if (made.outputs.empty())
      return fail(errc::invalid_argument, "it has no outputs");
    made.name = from.proto->name().empty()
                    ? fmt::format("{}_{}", made.op_type, from.proto->output(0))
                    : from.proto->name();
    built_.add_node(std::move(made));
    return {};
  }

  result<void> fold_constant(const NodeProto& from, const attribute_map& attributes) {
    if (from.output_size() != 1 || from.input_size() != 0 || from.output(0).empty())
      return fail(errc::invalid_argument, "no inputs and one output expected, {} and {} found",
                  from.input_size(), from.output_size());
    auto value = constant_value(attributes);
    if (!value)
      return propagate(value);
    return add_constant(from.output(0), std::move(*value));
  }

  result<void> add_outputs() {
    if (model_.graph().output_size() == 0)
      return fail(errc::invalid_argument, "the graph has no outputs");
    std::unordered_set<std::string> seen;
    for (const auto& declared : model_.graph().output()) {
      const auto found = ids_.find(declared.name());
      if (found == ids_.end())
        return fail(errc::invalid_argument,
                    "graph output '{}' is no output of a node, graph input or initializer",
                    declared.name());
      if (!seen.insert(declared.name()).second)
        return fail(errc::invalid_argument, "graph output '{}' is listed twice", declared.name());
      built_.outputs.push_back(found->second);
      auto& value = built_.values[found->second];
      if (value.producer == graph::no_node || !declared.has_type() || makes_maps(value.producer))
        continue;
      auto made = declared_value(declared, "graph output");
      if (!made)
        return propagate(made);
      value.type = made->type;
      value.dims = std::move(made->dims);
    }
    return {};
  }

  // ZipMap's output is declared as a sequence of maps; it stays the table that it makes them of.
  bool makes_maps(graph::node_id producer) const {
    const auto& of = built_.nodes[producer];
    return of.domain == "ai.onnx.ml" && of.op_type == "ZipMap";
  }

  result<void> add_constant(const std::string& name, std::shared_ptr<const tensor> content) {
    graph::value made{.name = name,
                      .type = content->type,
                      .dims = graph::symbolic(content->dims),
                      .constant = std::move(content)};
    if (!ids_.emplace(name, built_.add_value(std::move(made))).second)
      return fail(errc::invalid_argument, "'{}' is the name of two constants", name);
    return {};
  }

  result<graph::value> declared_value(const ValueInfoProto& from, std::string_view what) {
    if (!from.type().has_tensor_type())
      return fail(errc::unimplemented, "{} '{}' is not a tensor", what, from.name());
    const auto& declared = from.type().tensor_type();
    auto type = graph::dtype_of_onnx(declared.elem_type());
    if (!type)
      return fail(type.error().code, "{} '{}': {}", what, from.name(), type.error().text);
    graph::value made{.name = from.name(), .type = *type};
    if (declared.has_shape()) {
      made.dims.emplace();
      for (const auto& axis : declared.shape().dim())
        made.dims->push_back(declared_dim(axis));
    }
    return made;
  }

  // Exporters write "unknown" as -1, as "?", as an empty name or as nothing: none of these are
  // equal.
  graph::dim declared_dim(const TensorShapeProto::Dimension& from) {
    if (from.has_dim_value() && from.dim_value() >= 0)
      return from.dim_value();
    const auto& name = from.dim_param();
    if (name.empty() || name == "?" || name == "-1")
      return built_.fresh_dim();
    const auto known = symbols_.find(name);
    if (known != symbols_.end())
      return known->second;
    return symbols_.emplace(name, built_.fresh_dim(name)).first->second;
  }

  static result<int> opset_of(const std::string& domain, const opset_map& opsets) {
    const auto found = opsets.find(domain);
    if (found == opsets.end())
      return fail(errc::invalid_argument, "the model imports no opset of domain '{}'",
                  domain.empty() ? "ai.onnx" : domain);
    if (domain.empty() && (found->second < oldest_opset || found->second > newest_opset))
      return fail(errc::unimplemented, "opset {} is not supported: {} to {} are", found->second,
                  oldest_opset, newest_opset);
    return found->second;
  }

  const ModelProto& model_;
  function_inliner functions_;
  tensor_reader tensors_;
  graph::graph built_;
  std::unordered_map<std::string, graph::value_id> ids_;
  std::unordered_map<std::string, graph::dim> symbols_;
};

result<graph::graph> import_source(byte_source& source, external_places places) {
  auto skeleton = read_skeleton(source);
  if (!skeleton)
    return propagate(skeleton);
  ModelProto model;
  if (!model.ParseFromString(*skeleton))
    return fail(errc::invalid_argument, "it is not an ONNX model: its fields do not parse");
  if (!model.has_graph() || !model.has_ir_version())
    return fail(errc::invalid_argument, "it is not an ONNX model: graph and ir_version expected");
  skeleton->clear();
  skeleton->shrink_to_fit();
  return graph_builder{model, source, std::move(places)}.build();
}

} // namespace

result<graph::graph> import_file(const std::filesystem::path& file,
                                 const std::filesystem::path& repository) {
  auto source = open_file(file);
  if (!source)
    return propagate(source);
  auto imported = import_source(**source, external_places::of_file(file, repository));
  if (!imported)
    return fail(imported.error().code, "model '{}': {}", file.string(), imported.error().text);
  return imported;
}

result<graph::graph> import_bytes(shared_bytes bytes, const std::filesystem::path& directory) {
  auto source = in_memory(std::move(bytes));
  return import_source(*source, external_places::of_folder(directory));
}

result<std::shared_ptr<const tensor>> import_tensor(const std::filesystem::path& file) {
  auto source = open_file(file);
  if (!source)
    return propagate(source);
  auto skeleton = read_tensor_skeleton(**source);
  if (!skeleton)
    return propagate(skeleton);
  TensorProto stored;
  if (!stored.ParseFromString(*skeleton))
    return fail(errc::invalid_argument, "'{}' is not a tensor: its fields do not parse",
                file.string());
  return tensor_reader{**source, external_places::of_file(file, {})}.read(stored);
}

} // namespace troupe::onnx
