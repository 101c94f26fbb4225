#include "runtime/dynamic/node_run.hpp"

#include "kernels/cpu/value_kernel.hpp"
#include "runtime/graph/evaluate.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace troupe::dynamic {

namespace {

bool is_string(const datum& of) {
  const auto* content = std::get_if<tensor>(&of);
  return content != nullptr && content->type == dtype::string;
}

bool has_strings(const graph::graph& in, const graph::node& of, std::span<const datum> inputs) {
  return std::ranges::any_of(inputs, is_string)
         || std::ranges::any_of(of.outputs, [&](graph::value_id id) {
              return id != graph::no_value && in.values[id].type == dtype::string;
            });
}

result<std::vector<datum>> run_value_kernel(const graph::graph& in, const graph::node& of,
                                            std::span<const datum> inputs,
                                            const cpu::value_entry& by) {
  const auto wanted = std::make_unique<bool[]>(of.outputs.size()); // std::vector<bool> has no span
  std::vector<std::optional<dtype>> types;
  for (std::size_t index = 0; index < of.outputs.size(); ++index) {
    wanted[index] = of.outputs[index] != graph::no_value;
    types.push_back(wanted[index] ? in.values[of.outputs[index]].type : std::nullopt);
  }
  auto made = by.run(
      {of.op_type, of.version, of.attributes, inputs, {wanted.get(), of.outputs.size()}, types});
  if (made)
    made->resize(of.outputs.size());
  return made;
}

result<std::vector<datum>> run_planned(const graph::node& of, std::span<const datum> inputs,
                                       const tools& with) {
  std::vector<graph::constant_ptr> contents;
  for (const auto& input : inputs) {
    if (std::holds_alternative<tensor_sequence>(input))
      return fail(errc::invalid_argument, "a tensor expected, a sequence found");
    const auto* content = std::get_if<tensor>(&input);
    contents.push_back(content == nullptr ? nullptr : std::make_shared<const tensor>(*content));
  }
  auto made = graph::evaluate(of, contents, *with.on);
  if (!made)
    return propagate(made);
  std::vector<datum> outputs;
  for (auto& output : *made)
    outputs.push_back(output ? datum{*output} : datum{});
  return outputs;
}

result<std::vector<datum>> run_unnamed(const graph::graph& in, const graph::node& of,
                                       std::span<const datum> inputs, const tools& with) {
  if (of.op_type == "Identity" && of.domain.empty() && !inputs.empty())
    return std::vector<datum>{inputs[0]};
  const auto* entry = cpu::value_kernel_for(of.domain, of.op_type);
  const bool strings = has_strings(in, of, inputs);
  if (entry != nullptr && (entry->nodes == cpu::value_nodes::all || strings))
    return run_value_kernel(in, of, inputs, *entry);
  if (!strings)
    return run_planned(of, inputs, with);
  if (moves_strings(of))
    return move_strings(of, inputs, with);
  return fail(errc::unimplemented, "strings are not supported");
}

} // namespace

result<std::vector<datum>> run_node(const graph::graph& in, const graph::node& of,
                                    std::span<const datum> inputs, const tools& with) {
  auto made = run_unnamed(in, of, inputs, with);
  const auto label = fmt::format("node '{}' ({}): ", of.name, of.op_type);
  if (!made && !made.error().text.starts_with(label))
    return fail(made.error().code, "{}{}", label, made.error().text);
  return made;
}

} // namespace troupe::dynamic
