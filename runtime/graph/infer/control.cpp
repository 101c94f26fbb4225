// Operators with subgraphs: what comes out of them is what comes out of their bodies.

#include "runtime/graph/infer/inference.hpp"
#include "runtime/graph/subgraphs.hpp"

#include <algorithm>
#include <array>

namespace troupe::graph {

namespace {

result<std::vector<typed_subgraph>> bodies(inference& at,
                                           std::initializer_list<const char*> names) {
  std::vector<std::string_view> missing{names.begin(), names.end()};
  for (const auto& from : at.of().subgraphs)
    std::erase(missing, from.name);
  if (!missing.empty() || at.of().subgraphs.size() != names.size())
    return fail(errc::invalid_argument, "subgraphs {} expected, {} found", fmt::join(names, ", "),
                at.of().subgraphs.size());
  return type_subgraphs(at.of(), at.inputs(), at.symbols());
}

void set(inference& at, std::size_t output, const fact& known) {
  at.set(output, known.type, known.dims);
  at.set_kind(output, known.kind);
}

// What holds whichever branch ran.
fact either(const fact& one, const fact& other, graph& symbols) {
  auto made = one;
  if (!made.type || (other.type && made.type != other.type))
    made.type = other.type;
  if (made.kind == value_kind::tensor)
    made.kind = other.kind;
  if (!one.dims || !other.dims || one.dims->size() != other.dims->size()) {
    made.dims.reset();
    return made;
  }
  for (std::size_t axis = 0; axis < made.dims->size(); ++axis)
    if ((*made.dims)[axis] != (*other.dims)[axis])
      (*made.dims)[axis] = symbols.fresh_dim();
  return made;
}

// https://onnx.ai/onnx/operators/onnx__If.html
result<void> infer_if(inference& at) {
  auto typed = bodies(at, {"then_branch", "else_branch"});
  if (!typed)
    return propagate(typed);
  const auto& one = (*typed)[0].outputs;
  const auto& other = (*typed)[1].outputs;
  if (one.size() != other.size() || one.size() < at.output_count())
    return fail(errc::invalid_argument, "branches of {} outputs expected, {} and {} found",
                at.output_count(), one.size(), other.size());
  for (std::size_t index = 0; index < at.output_count(); ++index)
    set(at, index, either(one[index], other[index], at.symbols()));
  return {};
}

// One more axis, as long as there are iterations.
fact stacked(fact of, std::size_t axis, dim count) {
  if (of.dims && axis <= of.dims->size())
    of.dims->insert(of.dims->begin() + static_cast<std::ptrdiff_t>(axis), count);
  else
    of.dims.reset();
  return of;
}

// https://onnx.ai/onnx/operators/onnx__Loop.html: what is carried may come out as it went in.
result<void> infer_loop(inference& at) {
  auto typed = bodies(at, {"body"});
  if (!typed)
    return propagate(typed);
  const auto& made = (*typed)[0].outputs;
  const auto own = own_inputs(at.of());
  const auto carried = own > 2 ? own - 2 : 0;
  if (made.size() < 1 + at.output_count())
    return fail(errc::invalid_argument, "a body of {} outputs expected, {} found",
                1 + at.output_count(), made.size());
  for (std::size_t index = 0; index < at.output_count(); ++index) {
    if (index < carried)
      set(at, index, either(made[1 + index], at.input(2 + index), at.symbols()));
    else
      set(at, index, stacked(made[1 + index], 0, at.symbols().fresh_dim()));
  }
  return {};
}

// https://onnx.ai/onnx/operators/onnx__Scan.html
result<void> infer_scan(inference& at) {
  auto typed = bodies(at, {"body"});
  if (!typed)
    return propagate(typed);
  const auto& made = (*typed)[0].outputs;
  const std::size_t ahead = at.version() < 9 ? 1 : 0;
  const auto scanned =
      static_cast<std::size_t>(at.attributes().integer("num_scan_inputs", 0)); // typing checked it
  const auto states = own_inputs(at.of()) - ahead - scanned;
  if (made.size() < at.output_count())
    return fail(errc::invalid_argument, "a body of {} outputs expected, {} found",
                at.output_count(), made.size());
  for (std::size_t index = 0; index < at.output_count(); ++index) {
    auto known = made[index];
    if (index >= states) {
      std::size_t axis = 0;
      if (ahead == 0 && known.dims) {
        auto counted =
            scan_axis(at.of(), "scan_output_axes", index - states, known.dims->size() + 1);
        if (!counted)
          return propagate(counted);
        axis = *counted;
      }
      known = stacked(std::move(known), axis, at.symbols().fresh_dim());
    }
    set(at, index, ahead > 0 ? stacked(std::move(known), 0, at.symbols().fresh_dim()) : known);
  }
  return {};
}

// https://onnx.ai/onnx/operators/onnx__SequenceMap.html
result<void> infer_sequence_map(inference& at) {
  auto typed = bodies(at, {"body"});
  if (!typed)
    return propagate(typed);
  const auto& made = (*typed)[0].outputs;
  if (made.size() < at.output_count())
    return fail(errc::invalid_argument, "a body of {} outputs expected, {} found",
                at.output_count(), made.size());
  for (std::size_t index = 0; index < at.output_count(); ++index) {
    at.set(index, made[index].type, std::nullopt);
    at.set_kind(index, value_kind::sequence);
  }
  return {};
}

constexpr std::array rules{
    infer_entry{"If", 1, any_number, any_number, infer_if},
    infer_entry{"Loop", 0, any_number, any_number, infer_loop},
    infer_entry{"Scan", 0, any_number, any_number, infer_scan},
    infer_entry{"SequenceMap", 1, any_number, any_number, infer_sequence_map},
};

} // namespace

std::span<const infer_entry> control_rules() {
  return rules;
}

} // namespace troupe::graph
