#include "runtime/onnx/graph_builder.hpp"

#include "runtime/onnx/attribute_reader.hpp"
#include "runtime/onnx/import.hpp"
#include "runtime/onnx/node_order.hpp"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/raise_opset.hpp"
#include "runtime/onnx/value_type.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>

namespace troupe::onnx {

namespace {

// What is known of a subgraph is found again for each round of inference around it.
constexpr int max_nesting = 8;

result<int> opset_of(const std::string& domain, const opset_map& opsets) {
  const auto found = opsets.find(domain);
  if (found == opsets.end())
    return fail(errc::invalid_argument, "the model imports no opset of domain '{}'",
                domain.empty() ? "ai.onnx" : domain);
  if (domain.empty() && (found->second < oldest_opset || found->second > newest_opset))
    return fail(errc::unimplemented, "opset {} is not supported: {} to {} are", found->second,
                oldest_opset, newest_opset);
  return found->second;
}

} // namespace

result<graph::graph> graph_builder::build(const GraphProto& of, const opset_map& opsets,
                                          int depth) {
  built_.name = of.name();
  if (auto done = add_initializers(of); !done)
    return propagate(done);
  if (auto done = add_inputs(of); !done)
    return propagate(done);
  if (auto done = add_nodes(of, opsets, depth); !done)
    return propagate(done);
  if (auto done = add_outputs(of); !done)
    return propagate(done);
  built_.inputs.insert(built_.inputs.end(), captured_inputs_.begin(), captured_inputs_.end());
  return std::move(built_);
}

bool graph_builder::knows(const std::string& name) const {
  return ids_.contains(name) || (outer_ != nullptr && outer_->knows(name));
}

std::optional<graph::value_id> graph_builder::find(const std::string& name) {
  if (const auto known = ids_.find(name); known != ids_.end())
    return known->second;
  const auto around = outer_ == nullptr ? std::nullopt : outer_->find(name);
  if (!around)
    return std::nullopt;
  const auto& value = outer_->built_.values[*around];
  graph::value here{.name = name, .type = value.type, .constant = value.constant};
  here.kind = value.kind;
  if (here.constant)
    here.dims = value.dims;
  const bool constant = here.constant != nullptr;
  const auto id = ids_[name] = built_.add_value(std::move(here));
  if (!constant) {
    captured_.push_back(*around);
    captured_inputs_.push_back(id);
  }
  return id;
}

result<void> graph_builder::add_initializers(const GraphProto& of) {
  for (const auto& stored : of.initializer()) {
    if (stored.name().empty())
      return fail(errc::invalid_argument, "an initializer has no name");
    auto read = tensors_.read(stored);
    if (!read)
      return propagate(read);
    if (auto added = add_constant(stored.name(), std::move(*read)); !added)
      return added;
  }
  for (const auto& stored : of.sparse_initializer()) {
    if (stored.values().name().empty())
      return fail(errc::invalid_argument, "a sparse initializer has no name");
    auto read = tensors_.read_sparse(stored);
    if (!read)
      return propagate(read);
    if (auto added = add_constant(stored.values().name(), std::move(*read)); !added)
      return added;
  }
  return {};
}

result<void> graph_builder::add_inputs(const GraphProto& of) {
  std::unordered_set<std::string> seen;
  for (const auto& declared : of.input()) {
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

result<void> graph_builder::add_nodes(const GraphProto& of, const opset_map& opsets, int depth) {
  auto flat = functions_.flatten(of, opsets, depth);
  if (!flat)
    return propagate(flat);
  std::unordered_set<std::string> known;
  for (const auto& [name, id] : ids_)
    known.insert(name);
  auto ordered =
      in_topological_order(*flat, known, [this](const std::string& name) { return knows(name); });
  if (!ordered)
    return propagate(ordered);
  for (const auto& next : *ordered)
    if (auto added = add_node(next); !added)
      return fail(added.error().code, "{}: {}", describe(*next.proto), added.error().text);
  return {};
}

result<void> graph_builder::add_node(const scoped_node& from) {
  graph::node made;
  made.domain = normal_domain(from.proto->domain());
  made.op_type = from.proto->op_type();
  auto version = opset_of(made.domain, *from.opsets);
  if (!version)
    return propagate(version);
  made.version = *version;
  const bool old = made.domain.empty() && made.version < raised_opset;
  if (old)
    if (auto good = check_old_operator(made.op_type, made.version); !good)
      return good;
  auto attributes = read_attributes(*from.proto, tensors_);
  if (!attributes)
    return propagate(attributes);
  made.attributes = std::move(*attributes);
  if (made.domain.empty() && made.op_type == "Constant")
    return fold_constant(*from.proto, made.attributes);
  for (const auto& name : from.proto->input()) {
    const auto id = name.empty() ? graph::no_value : find(name);
    if (!id)
      return fail(errc::invalid_argument, "input '{}' is not known", name);
    made.inputs.push_back(*id);
  }
  while (!made.inputs.empty() && made.inputs.back() == graph::no_value)
    made.inputs.pop_back();
  if (auto added = add_subgraphs(from, made); !added)
    return added;
  if (from.proto->output_size() == 0)
    return fail(errc::invalid_argument, "it has no outputs");
  made.name = from.proto->name().empty() ? fmt::format("{}_{}", made.op_type, from.proto->output(0))
                                         : from.proto->name();
  if (old)
    if (auto done = raise_to_opset_7(made, built_); !done)
      return done;
  for (const auto& name : from.proto->output()) {
    made.outputs.push_back(graph::no_value);
    if (!name.empty())
      ids_[name] = made.outputs.back() = built_.add_value({.name = name});
  }
  built_.add_node(std::move(made));
  return {};
}

result<void> graph_builder::add_subgraphs(const scoped_node& from, graph::node& to) {
  const auto own = to.inputs.size();
  for (const auto& written : from.proto->attribute()) {
    if (written.type() != AttributeProto::GRAPH)
      continue;
    graph_builder inner{functions_, tensors_, this};
    if (inner.nesting_ > max_nesting)
      return fail(errc::invalid_argument, "subgraphs are nested deeper than {}", max_nesting);
    auto body = inner.build(written.g(), *from.opsets, from.depth);
    if (!body)
      return fail(body.error().code, "{}: {}", written.name(), body.error().text);
    graph::subgraph made{
        written.name(), std::make_shared<const graph::graph>(*std::move(body)), {}};
    for (auto id : inner.captured()) {
      const auto first = to.inputs.begin() + static_cast<std::ptrdiff_t>(own);
      const auto known = std::find(first, to.inputs.end(), id);
      made.captures.push_back(static_cast<std::size_t>(known - to.inputs.begin()));
      if (known == to.inputs.end())
        to.inputs.push_back(id);
    }
    to.subgraphs.push_back(std::move(made));
  }
  to.captured = to.inputs.size() - own;
  return {};
}

result<void> graph_builder::fold_constant(const NodeProto& from, const attribute_map& attributes) {
  if (from.output_size() != 1 || from.input_size() != 0 || from.output(0).empty())
    return fail(errc::invalid_argument, "no inputs and one output expected, {} and {} found",
                from.input_size(), from.output_size());
  auto value = constant_value(attributes);
  if (!value)
    return propagate(value);
  return add_constant(from.output(0), std::move(*value));
}

result<void> graph_builder::add_outputs(const GraphProto& of) {
  if (of.output_size() == 0)
    return fail(errc::invalid_argument, "the graph has no outputs");
  std::unordered_set<std::string> seen;
  for (const auto& declared : of.output()) {
    const auto found = find(declared.name());
    if (!found)
      return fail(errc::invalid_argument,
                  "graph output '{}' is no output of a node, graph input or initializer",
                  declared.name());
    if (outer_ == nullptr && !seen.insert(declared.name()).second)
      return fail(errc::invalid_argument, "graph output '{}' is listed twice", declared.name());
    built_.outputs.push_back(*found);
    auto& value = built_.values[*found];
    if (value.producer == graph::no_node || !declared.has_type() || makes_maps(value.producer))
      continue;
    auto made = declared_value(declared, "graph output");
    if (!made)
      return propagate(made);
    value.type = made->type;
    value.kind = made->kind;
    value.dims = std::move(made->dims);
  }
  return {};
}

// ZipMap's output is declared as a sequence of maps; it stays the table that it makes them of.
bool graph_builder::makes_maps(graph::node_id producer) const {
  const auto& of = built_.nodes[producer];
  return of.domain == "ai.onnx.ml" && of.op_type == "ZipMap";
}

result<void> graph_builder::add_constant(const std::string& name,
                                         std::shared_ptr<const tensor> content) {
  graph::value made{.name = name,
                    .type = content->type,
                    .dims = graph::symbolic(content->dims),
                    .constant = std::move(content)};
  if (!ids_.emplace(name, built_.add_value(std::move(made))).second)
    return fail(errc::invalid_argument, "'{}' is the name of two constants", name);
  return {};
}

result<graph::value> graph_builder::declared_value(const ValueInfoProto& from,
                                                   std::string_view what) {
  graph::value made{.name = from.name()};
  if (!from.has_type() && outer_ != nullptr)
    return made; // what the operator feeds a subgraph says it
  auto declared = read_type(from.type());
  if (!declared)
    return fail(declared.error().code, "{} '{}': {}", what, from.name(), declared.error().text);
  made.type = declared->type;
  made.kind = declared->kind;
  if (declared->dims != nullptr)
    made.dims = declared_dims(*declared->dims);
  return made;
}

// Exporters write "unknown" as -1, as "?", as an empty name or as nothing: none of these are equal.
graph::symbolic_shape graph_builder::declared_dims(const TensorShapeProto& from) {
  graph::symbolic_shape made;
  for (const auto& axis : from.dim()) {
    if (axis.has_dim_value() && axis.dim_value() >= 0) {
      made.emplace_back(axis.dim_value());
      continue;
    }
    const auto& name = axis.dim_param();
    const bool named = !name.empty() && name != "?" && name != "-1";
    if (!named)
      made.push_back(built_.fresh_dim());
    else if (const auto known = symbols_.find(name); known != symbols_.end())
      made.push_back(known->second);
    else
      made.push_back(symbols_[name] = built_.fresh_dim(name));
  }
  return made;
}

} // namespace troupe::onnx
