#include "runtime/dynamic/control.hpp"

#include "kernels/cpu/value_arguments.hpp"
#include "runtime/dynamic/program.hpp"
#include "runtime/graph/subgraphs.hpp"

#include <algorithm>
#include <utility>

namespace troupe::dynamic {

namespace {

result<bool> truth_of(const datum& of, const char* what) {
  const auto* content = std::get_if<tensor>(&of);
  if (content == nullptr || content->type != dtype::boolean || element_count(content->dims) != 1)
    return fail(errc::invalid_argument, "{}: a BOOL of one element expected", what);
  return elements_of<std::uint8_t>(content->data).front() != 0;
}

std::size_t body_index(const graph::node& of, std::string_view name) {
  return of.subgraphs[0].name == name ? 0 : 1;
}

result<std::vector<datum>> run_if(const control_call& of) {
  auto condition = truth_of(of.inputs[0], "the condition");
  if (!condition)
    return propagate(condition);
  return of.run_body(body_index(of.of, *condition ? "then_branch" : "else_branch"), {});
}

/// SequenceMap: inputs that are tensors go into every call as they are.
result<std::vector<datum>> run_map(const control_call& of) {
  const auto own = graph::own_inputs(of.of);
  const auto* first = std::get_if<tensor_sequence>(&of.inputs[0]);
  if (first == nullptr)
    return fail(errc::invalid_argument, "input 0: a sequence expected");
  const auto& body = of.bodies[0]->of();
  std::vector<tensor_sequence> made(of.of.outputs.size());
  for (std::size_t index = 0; index < made.size(); ++index)
    made[index].type = body.values[body.outputs[index]].type.value_or(first->type);
  for (std::size_t at = 0; at < first->elements.size(); ++at) {
    if (auto go_on = of.with.check(); !go_on)
      return propagate(go_on);
    std::vector<datum> fed;
    for (std::size_t index = 0; index < own; ++index) {
      const auto* many = std::get_if<tensor_sequence>(&of.inputs[index]);
      if (many == nullptr)
        fed.push_back(of.inputs[index]);
      else if (many->elements.size() != first->elements.size())
        return fail(errc::invalid_argument, "input {} has {} elements, input 0 has {}", index,
                    many->elements.size(), first->elements.size());
      else
        fed.emplace_back(many->elements[at]);
    }
    auto outputs = of.run_body(0, std::move(fed));
    if (!outputs)
      return outputs;
    for (std::size_t index = 0; index < made.size(); ++index) {
      auto* next = std::get_if<tensor>(&(*outputs)[index]);
      if (next == nullptr)
        return fail(errc::invalid_argument, "output {} of the body is no tensor", index);
      made[index].type = next->type;
      made[index].elements.push_back(std::move(*next));
    }
  }
  std::vector<datum> outputs;
  for (auto& next : made)
    outputs.emplace_back(std::move(next));
  return outputs;
}

/// How often a Loop runs at most.
result<std::int64_t> trip_count(const control_call& of) {
  if (of.inputs.empty() || std::holds_alternative<std::monostate>(of.inputs[0])
      || graph::own_inputs(of.of) < 1)
    return std::numeric_limits<std::int64_t>::max();
  const auto* content = std::get_if<tensor>(&of.inputs[0]);
  if (content == nullptr || content->type != dtype::int64 || element_count(content->dims) != 1)
    return fail(errc::invalid_argument, "the trip count: an INT64 of one element expected");
  return elements_of<std::int64_t>(content->data).front();
}

} // namespace

result<std::vector<datum>> control_call::run_body(std::size_t which, std::vector<datum> fed) const {
  for (auto capture : of.subgraphs[which].captures)
    fed.push_back(inputs[capture]);
  return bodies[which]->run(std::move(fed), with);
}

result<std::vector<datum>> run_loop(const control_call& of) {
  auto most = trip_count(of);
  if (!most)
    return propagate(most);
  const auto own = graph::own_inputs(of.of);
  const bool conditional = own > 1 && !std::holds_alternative<std::monostate>(of.inputs[1]);
  bool go_on = true;
  if (conditional) {
    auto first = truth_of(of.inputs[1], "the condition");
    if (!first)
      return propagate(first);
    go_on = *first;
  }
  std::vector<datum> carried{of.inputs.begin()
                                 + static_cast<std::ptrdiff_t>(std::min<std::size_t>(own, 2)),
                             of.inputs.begin() + static_cast<std::ptrdiff_t>(own)};
  const auto& body = of.bodies[0]->of();
  if (body.outputs.size() < 1 + carried.size())
    return fail(errc::invalid_argument, "a body of at least {} outputs expected, {} found",
                1 + carried.size(), body.outputs.size());
  std::vector<std::vector<tensor>> kept(body.outputs.size() - 1 - carried.size());
  for (std::int64_t iteration = 0; iteration < *most && go_on; ++iteration) {
    if (auto wanted = of.with.check(); !wanted)
      return propagate(wanted);
    std::vector<datum> fed{cpu::make_scalar(iteration), cpu::make_boolean(go_on)};
    std::ranges::move(carried, std::back_inserter(fed));
    auto made = of.run_body(0, std::move(fed));
    if (!made)
      return made;
    auto condition = truth_of((*made)[0], "the condition that the body gives");
    if (!condition)
      return propagate(condition);
    go_on = *condition;
    for (std::size_t index = 0; index < carried.size(); ++index)
      carried[index] = std::move((*made)[1 + index]);
    for (std::size_t index = 0; index < kept.size(); ++index) {
      auto* next = std::get_if<tensor>(&(*made)[1 + carried.size() + index]);
      if (next == nullptr)
        return fail(errc::invalid_argument, "output {} of the body is no tensor",
                    1 + carried.size() + index);
      kept[index].push_back(std::move(*next));
    }
  }
  auto outputs = std::move(carried);
  const auto first = body.outputs.size() - kept.size();
  for (std::size_t index = 0; index < kept.size(); ++index) {
    auto stacked = stack(kept[index], 0, body.values[body.outputs[first + index]]);
    if (!stacked)
      return propagate(stacked);
    outputs.emplace_back(*std::move(stacked));
  }
  return outputs;
}

result<tensor> stack(std::span<const tensor> parts, std::size_t axis,
                     const graph::value& declared) {
  if (parts.empty()) {
    shape dims;
    if (declared.dims)
      for (const auto& size : *declared.dims)
        dims.push_back(size.known() ? size.size() : 0);
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(std::min(axis, dims.size())), 0);
    return cpu::join_runs(declared.type.value_or(dtype::float32), dims, {});
  }
  const auto& first = parts.front();
  const std::span<const std::int64_t> inner{first.dims};
  const auto rows = element_count(inner.first(axis));
  const auto width = element_count(inner.subspan(axis));
  std::vector<cpu::element_runs> elements;
  for (const auto& next : parts) {
    if (next.type != first.type || next.dims != first.dims)
      return fail(errc::invalid_argument, "{} of {} does not stack on {} of {}",
                  to_string(next.dims), to_string(next.type), to_string(first.dims),
                  to_string(first.type));
    auto runs = cpu::element_runs::of(next);
    if (!runs)
      return propagate(runs);
    elements.push_back(*std::move(runs));
  }
  std::vector<std::span<const std::byte>> runs;
  for (std::int64_t row = 0; row < rows; ++row)
    for (const auto& next : elements)
      runs.push_back(next.run(row * width, width));
  auto dims = first.dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis),
              static_cast<std::int64_t>(parts.size()));
  return cpu::join_runs(first.type, dims, runs);
}

result<std::vector<datum>> run_control(const graph::graph& in, const graph::node& of,
                                       std::span<const datum> inputs,
                                       std::span<const body_ptr> bodies, const run_context& with) {
  const control_call call{in, of, inputs, bodies, with};
  auto made =
      of.op_type == "If"     ? run_if(call)
      : of.op_type == "Loop" ? run_loop(call)
      : of.op_type == "Scan" ? run_scan(call)
      : of.op_type == "SequenceMap"
          ? run_map(call)
          : result<std::vector<datum>>{fail(errc::unimplemented, "subgraphs of this operator "
                                                                 "are not supported")};
  if (!made)
    return fail(made.error().code, "node '{}' ({}): {}", of.name, of.op_type, made.error().text);
  return made;
}

} // namespace troupe::dynamic
