#include "runtime/onnx/function_inliner.hpp"

#include "runtime/onnx/onnx.pb.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace troupe::onnx {

namespace {

constexpr int max_call_depth = 32;
constexpr std::size_t max_nodes = 1'000'000;

template <class Imports>
opset_map read_opsets(const Imports& imports) {
  opset_map versions;
  for (const auto& import : imports) {
    const bool sane =
        import.version() > 0 && import.version() < std::numeric_limits<std::int32_t>::max();
    versions[normal_domain(import.domain())] = sane ? static_cast<int>(import.version()) : 0;
  }
  return versions;
}

std::string function_key(const std::string& domain, const std::string& name,
                         const std::string& overload) {
  return normal_domain(domain) + '\0' + name + '\0' + overload;
}

const AttributeProto* find_attribute(const NodeProto& in, const std::string& name) {
  for (const auto& candidate : in.attribute())
    if (candidate.name() == name)
      return &candidate;
  return nullptr;
}

// Replaces references to the function's attributes by what the call gives or the function's
// default; a reference to neither disappears, as if the attribute had not been written.
void bind_attributes(const NodeProto& call, const FunctionProto& called, NodeProto& inner) {
  google::protobuf::RepeatedPtrField<AttributeProto> bound;
  for (const auto& written : inner.attribute()) {
    if (written.ref_attr_name().empty()) {
      *bound.Add() = written;
      continue;
    }
    const auto* given = find_attribute(call, written.ref_attr_name());
    for (const auto& fallback : called.attribute_proto())
      if (given == nullptr && fallback.name() == written.ref_attr_name())
        given = &fallback;
    if (given != nullptr) {
      *bound.Add() = *given;
      bound.rbegin()->set_name(written.name());
    }
  }
  inner.mutable_attribute()->Swap(&bound);
}

// A subgraph inside a function: what it reads of the function has another name now, and attributes
// of its nodes may refer to the call's. Names of its own hide those of the function.
void enter_function(const NodeProto& call, const FunctionProto& called,
                    std::map<std::string, std::string> renamed, GraphProto& inner) {
  for (const auto& input : inner.input())
    renamed.erase(input.name());
  for (const auto& stored : inner.initializer())
    renamed.erase(stored.name());
  for (const auto& node : inner.node())
    for (const auto& name : node.output())
      renamed.erase(name);
  const auto rename = [&](std::string& name) {
    if (const auto known = renamed.find(name); known != renamed.end())
      name = known->second;
  };
  for (auto& node : *inner.mutable_node()) {
    for (auto& name : *node.mutable_input())
      rename(name);
    bind_attributes(call, called, node);
    for (auto& written : *node.mutable_attribute())
      if (written.has_g())
        enter_function(call, called, renamed, *written.mutable_g());
  }
  for (auto& output : *inner.mutable_output())
    rename(*output.mutable_name());
}

} // namespace

std::string normal_domain(const std::string& domain) {
  return domain == "ai.onnx" ? std::string{} : domain;
}

function_inliner::function_inliner(const ModelProto& model)
    : model_opsets_{read_opsets(model.opset_import())} {
  if (model.ir_version() < 3) // the format did not tell opsets apart yet
    model_opsets_.emplace("", 1);
  for (const auto& function : model.functions()) {
    functions_[function_key(function.domain(), function.name(), function.overload())] = &function;
    function_opsets_[&function] = read_opsets(function.opset_import());
  }
}

function_inliner::~function_inliner() = default;

result<std::vector<scoped_node>> function_inliner::flatten(const GraphProto& of,
                                                           const opset_map& opsets, int depth) {
  std::vector<scoped_node> flat;
  for (const auto& node : of.node())
    if (auto done = add(node, opsets, depth, flat); !done)
      return propagate(done);
  return flat;
}

result<void> function_inliner::add(const NodeProto& node, const opset_map& opsets, int depth,
                                   std::vector<scoped_node>& to) {
  const auto called = functions_.find(function_key(node.domain(), node.op_type(), node.overload()));
  if (called != functions_.end())
    return expand(node, *called->second, depth + 1, to);
  if (to.size() >= max_nodes)
    return fail(errc::resource_exhausted, "the model has more than {} nodes", max_nodes);
  to.push_back({&node, &opsets, depth});
  return {};
}

result<void> function_inliner::expand(const NodeProto& call, const FunctionProto& called, int depth,
                                      std::vector<scoped_node>& to) {
  if (depth > max_call_depth)
    return fail(errc::invalid_argument, "function '{}' is called {} calls deep", called.name(),
                depth);
  if (call.input_size() > called.input_size() || call.output_size() > called.output_size())
    return fail(errc::invalid_argument,
                "node '{}' ({}): at most {} inputs and {} outputs expected, {} and {} found",
                call.name(), called.name(), called.input_size(), called.output_size(),
                call.input_size(), call.output_size());
  if (made_.size() >= max_nodes)
    return fail(errc::resource_exhausted, "functions expand to more than {} nodes", max_nodes);

  // Names inside a function are its own: each call gets a prefix that no other name has.
  const auto prefix =
      fmt::format("{}#{}/", call.name().empty() ? called.name() : call.name(), calls_++);
  std::map<std::string, std::string> renamed{{"", ""}};
  for (int index = 0; index < called.input_size(); ++index)
    renamed[called.input(index)] = index < call.input_size() ? call.input(index) : std::string{};
  for (int index = 0; index < called.output_size(); ++index)
    if (index < call.output_size() && !call.output(index).empty())
      renamed[called.output(index)] = call.output(index);
  for (const auto& written : called.node()) // before subgraphs ask for them
    for (const auto& name : written.output())
      renamed.try_emplace(name, prefix + name);
  const auto rename = [&](std::string& name) {
    name = renamed.try_emplace(name, prefix + name).first->second;
  };
  for (const auto& written : called.node()) {
    auto inner = std::make_unique<NodeProto>(written);
    inner->set_name(prefix + written.name());
    for (auto& name : *inner->mutable_input())
      rename(name);
    for (auto& name : *inner->mutable_output())
      rename(name);
    bind_attributes(call, called, *inner);
    for (auto& written_for : *inner->mutable_attribute())
      if (written_for.has_g())
        enter_function(call, called, renamed, *written_for.mutable_g());
    const auto& kept = *made_.emplace_back(std::move(inner));
    if (auto done = add(kept, function_opsets_[&called], depth, to); !done)
      return done;
  }
  return {};
}

} // namespace troupe::onnx
