#include "runtime/dynamic/program.hpp"

#include "kernels/cpu/value_kernel.hpp"
#include "runtime/dynamic/control.hpp"
#include "runtime/dynamic/data_shapes.hpp"
#include "runtime/dynamic/node_run.hpp"
#include "runtime/graph/dim_math.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <utility>

namespace troupe::dynamic {

namespace {

bool is_plain(const graph::value& of) {
  return of.kind == graph::value_kind::tensor && of.type && *of.type != dtype::string;
}

/// Whether planned kernels run the node, once its inputs have dims.
bool is_planned(const graph::graph& in, const graph::node& of) {
  if (!of.subgraphs.empty())
    return false;
  const auto* entry = cpu::value_kernel_for(of.domain, of.op_type);
  if (entry != nullptr && entry->nodes == cpu::value_nodes::all)
    return false;
  const auto plain = [&](graph::value_id id) {
    return id == graph::no_value || is_plain(in.values[id]);
  };
  return std::ranges::all_of(of.inputs, plain) && std::ranges::all_of(of.outputs, plain);
}

/// A copy of the tensor whose data is aligned, if it is not.
datum aligned(datum of) {
  auto* content = std::get_if<tensor>(&of);
  if (content != nullptr
      && reinterpret_cast<std::uintptr_t>(content->data.data()) % tensor_alignment != 0)
    content->data = copy_of(content->data.view);
  return of;
}

} // namespace

bool needs_program(const graph::graph& of) {
  for (const auto& node : of.nodes)
    if (!node.removed && !is_planned(of, node))
      return true;
  const auto plain = [&](graph::value_id id) { return is_plain(of.values[id]); };
  return !std::ranges::all_of(of.inputs, plain) || !std::ranges::all_of(of.outputs, plain)
         || has_data_shapes(of);
}

result<std::shared_ptr<const program>> program::make(graph::graph of, const tools& with) {
  if (!with.on->properties().host_visible)
    return fail(errc::unimplemented,
                "models with control flow, strings, sequences or shapes that depend on data do not "
                "run on device {}: the host cannot read its memory",
                with.on->properties().name);
  std::shared_ptr<program> made{new program{std::move(of), with}};
  if (auto done = made->cut(); !done)
    return propagate(done);
  made->find_last_reads();
  return made;
}

// A value's depth counts the nodes that stand alone before it; planned nodes of one depth are one
// region, which runs before the others of that depth.
result<void> program::cut() {
  std::vector<std::size_t> depth(graph_.values.size(), 0);
  std::map<std::size_t, std::vector<graph::node_id>> planned;
  std::map<std::size_t, std::vector<graph::node_id>> alone;
  for (graph::node_id id = 0; id < graph_.nodes.size(); ++id) {
    const auto& node = graph_.nodes[id];
    if (node.removed)
      continue;
    std::size_t at = 0;
    for (auto input : node.inputs)
      at = input == graph::no_value ? at : std::max(at, depth[input]);
    const bool together = is_planned(graph_, node);
    (together ? planned : alone)[at].push_back(id);
    for (auto output : node.outputs)
      if (output != graph::no_value)
        depth[output] = together ? at : at + 1;
    alone.try_emplace(at);
  }
  for (const auto& [at, nodes] : alone) {
    if (const auto some = planned.find(at); some != planned.end()) {
      std::vector<bool> inside(graph_.nodes.size(), false);
      for (auto id : some->second)
        inside[id] = true;
      std::vector<bool> wanted(graph_.values.size(), false);
      mark_outputs(graph_, wanted);
      for (graph::node_id id = 0; id < graph_.nodes.size(); ++id)
        if (!graph_.nodes[id].removed && !inside[id])
          mark_inputs(graph_.nodes[id], wanted);
      steps_.emplace_back().planned =
          std::make_unique<region>(take_part(graph_, some->second, wanted, {}), with_);
    }
    for (auto id : nodes) {
      auto& next = steps_.emplace_back();
      next.node = id;
      for (const auto& inner : graph_.nodes[id].subgraphs) {
        auto body = make(*inner.body, with_);
        if (!body)
          return propagate(body);
        next.bodies.push_back(*std::move(body));
      }
    }
  }
  return {};
}

void program::find_last_reads() {
  std::vector<bool> kept(graph_.values.size(), false);
  mark_outputs(graph_, kept);
  for (auto at = steps_.rbegin(); at != steps_.rend(); ++at) {
    const auto& inputs = at->planned ? at->planned->of().inputs : graph_.nodes[at->node].inputs;
    const auto& outputs = at->planned ? at->planned->of().outputs : graph_.nodes[at->node].outputs;
    for (const auto* ids : {&inputs, &outputs})
      for (auto id : *ids)
        if (id != graph::no_value && !kept[id]) {
          kept[id] = true;
          at->last_read.push_back(id);
        }
  }
}

datum program::read(graph::value_id id, const std::vector<datum>& frame) const {
  if (id == graph::no_value)
    return {};
  return graph_.values[id].constant ? datum{*graph_.values[id].constant} : frame[id];
}

result<void> program::check_inputs(std::span<const datum> inputs) const {
  if (inputs.size() != graph_.inputs.size())
    return fail(errc::invalid_argument, "{} inputs expected, {} found", graph_.inputs.size(),
                inputs.size());
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const auto& declared = graph_.values[graph_.inputs[index]];
    const auto* content = std::get_if<tensor>(&inputs[index]);
    const auto* sequence = std::get_if<tensor_sequence>(&inputs[index]);
    const bool optional = declared.kind == graph::value_kind::optional_tensor
                          || declared.kind == graph::value_kind::optional_sequence;
    const bool wants_sequence = declared.kind == graph::value_kind::sequence
                                || declared.kind == graph::value_kind::optional_sequence;
    if (content == nullptr && sequence == nullptr) {
      if (optional)
        continue;
      return fail(errc::invalid_argument, "input '{}' is missing", declared.name);
    }
    if (wants_sequence != (sequence != nullptr))
      return fail(errc::invalid_argument, "input '{}' is a {}, but a {} came", declared.name,
                  wants_sequence ? "sequence" : "tensor", sequence ? "sequence" : "tensor");
    const auto type = sequence ? sequence->type : content->type;
    if (declared.type && *declared.type != type)
      return fail(errc::invalid_argument, "input '{}' is {}, but {} came", declared.name,
                  to_string(*declared.type), to_string(type));
    if (sequence || !declared.dims)
      continue;
    const auto& dims = *declared.dims;
    bool fits = dims.size() == content->dims.size();
    for (std::size_t axis = 0; fits && axis < dims.size(); ++axis)
      fits = !dims[axis].known() || dims[axis].size() == content->dims[axis];
    if (!fits)
      return fail(errc::invalid_argument, "input '{}' has dims {}, but {} came", declared.name,
                  graph::to_string(dims, graph_), to_string(content->dims));
  }
  return {};
}

result<void> program::run_step(const step& next, std::vector<datum>& frame,
                               const run_context& with) const {
  if (next.planned) {
    const auto& of = next.planned->of();
    std::vector<tensor> inputs;
    for (auto id : of.inputs) {
      auto* content = std::get_if<tensor>(&frame[id]);
      if (content == nullptr)
        return fail(errc::invalid_argument, "'{}' is no tensor", graph_.values[id].name);
      inputs.push_back(*content);
    }
    auto made = next.planned->run(inputs, with);
    if (!made)
      return propagate(made);
    for (std::size_t index = 0; index < made->size(); ++index)
      frame[of.outputs[index]] = std::move((*made)[index]);
    return {};
  }
  const auto& node = graph_.nodes[next.node];
  std::vector<datum> inputs;
  for (auto id : node.inputs)
    inputs.push_back(read(id, frame));
  auto made = next.bodies.empty() ? run_node(graph_, node, inputs, with_)
                                  : run_control(graph_, node, inputs, next.bodies, with);
  if (!made)
    return propagate(made);
  for (std::size_t index = 0; index < node.outputs.size() && index < made->size(); ++index)
    if (node.outputs[index] != graph::no_value)
      frame[node.outputs[index]] = std::move((*made)[index]);
  return {};
}

result<std::vector<datum>> program::run(std::vector<datum> inputs, const run_context& with) const {
  if (auto good = check_inputs(inputs); !good)
    return propagate(good);
  try {
    std::vector<datum> frame(graph_.values.size());
    for (std::size_t index = 0; index < inputs.size(); ++index)
      frame[graph_.inputs[index]] = aligned(std::move(inputs[index]));
    inputs.clear();
    for (const auto& next : steps_) {
      if (auto go_on = with.check(); !go_on)
        return propagate(go_on);
      if (auto done = run_step(next, frame, with); !done)
        return propagate(done);
      for (auto id : next.last_read)
        frame[id] = {};
    }
    std::vector<datum> outputs;
    for (auto id : graph_.outputs)
      outputs.push_back(read(id, frame));
    return outputs;
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted, "the memory for a result is not there");
  }
}

program::summary program::describe() const {
  summary made;
  for (const auto& next : steps_) {
    if (next.planned) {
      ++made.regions;
      made.planned += next.planned->of().of.nodes.size();
    } else {
      ++(next.bodies.empty() ? made.alone : made.control);
    }
  }
  return made;
}

} // namespace troupe::dynamic
