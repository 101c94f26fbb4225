#include "apps/troupe/inspect_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace troupe::cli {
namespace {

using nlohmann::json;

constexpr std::array layout_names{"row_major", "channels_last", "blocked8", "blocked16"};
constexpr std::array post_op_names{"relu",      "leaky_relu",   "clip",       "linear", "sigmoid",
                                   "tanh",      "hard_sigmoid", "hard_swish", "silu",   "gelu_erf",
                                   "gelu_tanh", "add",          "multiply"};

std::string_view name_of(layout format) {
  return layout_names[static_cast<std::size_t>(format)];
}

std::vector<std::string> names_of(std::span<const post_op> fused) {
  std::vector<std::string> names;
  for (const auto& one : fused)
    names.emplace_back(post_op_names[static_cast<std::size_t>(one.kind)]);
  return names;
}

std::vector<std::int64_t> sizes(const shape& dims) {
  return {dims.begin(), dims.end()};
}

std::map<std::string, std::size_t> operators(const graph::graph& of) {
  std::map<std::string, std::size_t> counted;
  for (const auto& node : of.nodes)
    if (!node.removed)
      ++counted[node.domain.empty() ? node.op_type : node.domain + ':' + node.op_type];
  return counted;
}

/// Nodes into which others were fused.
std::vector<const graph::node*> fused_nodes(const graph::graph& of) {
  std::vector<const graph::node*> found;
  for (const auto& node : of.nodes)
    if (!node.removed && !node.post_ops.empty())
      found.push_back(&node);
  return found;
}

std::string dims_text(const tensor_signature& of) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < of.dims.size(); ++axis) {
    const bool named =
        of.dims[axis] < 0 && axis < of.dim_names.size() && !of.dim_names[axis].empty();
    text += (axis == 0 ? "" : ",")
            + (named               ? of.dim_names[axis]
               : of.dims[axis] < 0 ? std::string{"?"}
                                   : std::to_string(of.dims[axis]));
  }
  return text + "]";
}

json signature_json(std::span<const tensor_signature> of) {
  auto listed = json::array();
  for (const auto& one : of)
    listed.push_back({{"name", one.name}, {"datatype", to_string(one.type)}, {"shape", one.dims}});
  return listed;
}

json plan_json(const plan::plan& of) {
  auto steps = json::array();
  for (const auto& step : of.steps) {
    json row{{"node", step.node}, {"operator", step.op_type}, {"kernel", step.run->name()}};
    if (!step.outputs.empty()) {
      row["shape"] = sizes(step.outputs[0].desc.dims);
      row["layout"] = name_of(step.outputs[0].desc.format);
    }
    row["fused"] = names_of(step.post_ops);
    row["workspace_bytes"] = step.workspace_bytes;
    row["declined"] = json::array();
    for (const auto& [name, reason] : step.declined)
      row["declined"].push_back({{"kernel", name}, {"reason", reason}});
    steps.push_back(std::move(row));
  }
  return {{"steps", std::move(steps)},
          {"views", of.views},
          {"known", of.known},
          {"in_place", of.in_place},
          {"threads", of.threads},
          {"arena_bytes", of.arena_bytes},
          {"live_bound_bytes", of.live_bound_bytes}};
}

std::string plan_text(const plan::plan& of) {
  std::string text;
  auto out = std::back_inserter(text);
  std::vector<std::string> shapes;
  for (const auto& input : of.inputs)
    shapes.push_back(to_string(input.dims));
  fmt::format_to(out, "\nplan for {}, {} thread{}: {} steps\n", fmt::join(shapes, " "), of.threads,
                 of.threads == 1 ? "" : "s", of.steps.size());
  for (std::size_t index = 0; index < of.steps.size(); ++index) {
    const auto& step = of.steps[index];
    const auto& desc = step.outputs[0].desc;
    fmt::format_to(out, "{:4}  {:<18} {:<28} {:<20} {:<13} {}", index, step.op_type,
                   step.run->name(), to_string(desc.dims), name_of(desc.format), step.node);
    if (!step.post_ops.empty())
      fmt::format_to(out, "  + {}", fmt::join(names_of(step.post_ops), " + "));
    text += '\n';
    for (const auto& [name, reason] : step.declined)
      fmt::format_to(out, "      declined {}: {}\n", name, reason);
  }
  const auto bound = static_cast<double>(std::max<std::size_t>(of.live_bound_bytes, 1));
  fmt::format_to(
      out,
      "memory: arena {} bytes, {:.3f} of the {} alive at once; {} steps in place; {} nodes "
      "only rename memory, {} were known before any data\n",
      of.arena_bytes, static_cast<double>(of.arena_bytes) / bound, of.live_bound_bytes, of.in_place,
      of.views, of.known);
  return text;
}

} // namespace

std::vector<arena_block> arena_blocks(const plan::plan& of) {
  std::vector<arena_block> blocks;
  std::map<std::size_t, std::size_t> current; // offset to the block written there last
  for (std::size_t index = 0; index < of.steps.size(); ++index) {
    const auto& step = of.steps[index];
    for (const auto& input : step.inputs)
      if (input.at.where == plan::place::arena && current.contains(input.at.offset))
        blocks[current[input.at.offset]].last = index;
    for (const auto& output : step.outputs)
      if (output.at.where == plan::place::arena && output.desc.bytes() > 0) {
        current[output.at.offset] = blocks.size();
        blocks.push_back({output.at.offset, output.desc.bytes(), index, index, false});
      }
    if (step.workspace.where == plan::place::arena)
      blocks.push_back({step.workspace.offset, step.workspace_bytes, index, index, true});
  }
  return blocks;
}

json inspect_json(const exec::model& model, const plan::plan* plan) {
  const auto& graph = model.optimised();
  json made{{"name", graph.name},
            {"producer", graph.producer},
            {"inputs", signature_json(model.io().inputs)},
            {"outputs", signature_json(model.io().outputs)},
            {"operators", operators(graph)},
            {"rows_independent", model.rows_independent()}};
  if (!model.rows_independent())
    made["why_rows_depend"] = model.why_rows_depend();
  made["passes"] = json::array();
  for (const auto& [name, took, changes] : model.rewrites())
    made["passes"].push_back({{"name", name}, {"changes", changes}});
  made["fusions"] = json::array();
  for (const auto* node : fused_nodes(graph))
    made["fusions"].push_back(
        {{"node", node->name}, {"operator", node->op_type}, {"fused", names_of(node->post_ops)}});
  made["weight_bytes"] = model.weight_bytes();
  if (const auto* program = model.program()) {
    const auto parts = program->describe();
    made["program"] = {{"regions", parts.regions},
                       {"planned_nodes", parts.planned},
                       {"nodes_alone", parts.alone},
                       {"nodes_with_subgraphs", parts.control}};
  }
  if (plan)
    made["plan"] = plan_json(*plan);
  return made;
}

std::string inspect_text(const exec::model& model, const plan::plan* plan) {
  const auto& graph = model.optimised();
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}{}\n", graph.name, graph.producer.empty() ? "" : " by " + graph.producer);
  for (const auto& input : model.io().inputs)
    fmt::format_to(out, "input   {} {} {}\n", input.name, to_string(input.type), dims_text(input));
  for (const auto& output : model.io().outputs)
    fmt::format_to(out, "output  {} {} {}\n", output.name, to_string(output.type),
                   dims_text(output));
  std::size_t nodes = 0;
  std::vector<std::string> counted;
  for (const auto& [op, count] : operators(graph)) {
    counted.push_back(fmt::format("{} {}", count, op));
    nodes += count;
  }
  fmt::format_to(out, "{} nodes after the passes: {}\n", nodes, fmt::join(counted, ", "));
  std::vector<std::string> passed;
  for (const auto& [name, took, changes] : model.rewrites())
    if (changes > 0)
      passed.push_back(fmt::format("{} {}", changes, name));
  fmt::format_to(out, "rewrites: {}\n",
                 passed.empty() ? "none" : fmt::format("{}", fmt::join(passed, ", ")));
  fmt::format_to(out, "rows are {}\n",
                 model.rows_independent() ? std::string{"independent: requests may share a batch"}
                                          : "not proven independent: " + model.why_rows_depend());
  fmt::format_to(out, "weights {} bytes\n", model.weight_bytes());
  if (const auto* program = model.program()) {
    const auto parts = program->describe();
    fmt::format_to(
        out,
        "a program runs it: {} regions of {} planned nodes, {} nodes that make their own "
        "outputs, {} with subgraphs\n",
        parts.regions, parts.planned, parts.alone, parts.control);
  }
  for (const auto* node : fused_nodes(graph))
    fmt::format_to(out, "fused   {} ({}) + {}\n", node->name, node->op_type,
                   fmt::join(names_of(node->post_ops), " + "));
  if (plan)
    text += plan_text(*plan);
  return text;
}

} // namespace troupe::cli
