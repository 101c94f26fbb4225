#include "runtime/onnx/import.hpp"

#include "runtime/onnx/function_inliner.hpp"
#include "runtime/onnx/graph_builder.hpp"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/skeleton.hpp"

#include <memory>
#include <utility>

namespace troupe::onnx {

namespace {

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
  function_inliner functions{model};
  tensor_reader tensors{source, std::move(places)};
  graph_builder builder{functions, tensors};
  auto built = builder.build(model.graph(), functions.model_opsets(), 0);
  if (!built)
    return built;
  built->producer = model.producer_name();
  if (!model.producer_version().empty())
    built->producer += " " + model.producer_version();
  for (const auto& entry : model.metadata_props())
    built->metadata[entry.key()] = entry.value();
  return built;
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

namespace {

template <class Message>
result<Message> parse(result<std::string> skeleton, const std::filesystem::path& file) {
  if (!skeleton)
    return propagate(skeleton);
  Message read;
  if (!read.ParseFromString(*skeleton))
    return fail(errc::invalid_argument,
                "'{}' does not hold what it should: its fields do not parse", file.string());
  return read;
}

result<datum> read_sequence(const SequenceProto& from, tensor_reader& tensors) {
  tensor_sequence made;
  for (const auto& stored : from.tensor_values()) {
    auto read = tensors.read(stored);
    if (!read)
      return propagate(read);
    made.type = (*read)->type;
    made.elements.push_back(**read);
  }
  return made;
}

} // namespace

result<datum> import_value(const std::filesystem::path& file, graph::value_kind kind) {
  if (kind == graph::value_kind::tensor) {
    auto read = import_tensor(file);
    return read ? result<datum>{**read} : propagate(read);
  }
  auto source = open_file(file);
  if (!source)
    return propagate(source);
  tensor_reader tensors{**source, external_places::of_file(file, {})};
  if (kind == graph::value_kind::sequence) {
    auto stored = parse<SequenceProto>(read_sequence_skeleton(**source), file);
    return stored ? read_sequence(*stored, tensors) : propagate(stored);
  }
  auto stored = parse<OptionalProto>(read_optional_skeleton(**source), file);
  if (!stored)
    return propagate(stored);
  if (stored->has_sequence_value())
    return read_sequence(stored->sequence_value(), tensors);
  if (!stored->has_tensor_value())
    return datum{};
  auto read = tensors.read(stored->tensor_value());
  return read ? result<datum>{**read} : propagate(read);
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
