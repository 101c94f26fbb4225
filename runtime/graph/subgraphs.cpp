#include "runtime/graph/subgraphs.hpp"

#include "runtime/graph/infer/inference.hpp"

#include <map>
#include <set>
#include <utility>

namespace troupe::graph {

namespace {

/// Dims between the symbols of a node's graph and those of one of its subgraphs.
class translator {
public:
  translator(graph& around, graph& body) : around_{around}, body_{body} {}

  dim inward(dim size) {
    if (size.known())
      return size;
    const auto known = inward_.find(size.symbol());
    if (known != inward_.end())
      return known->second;
    const auto made = inward_.emplace(size.symbol(), body_.fresh_dim()).first->second;
    outward_.emplace(made.symbol(), size);
    return made;
  }
  dim outward(dim size) {
    if (size.known())
      return size;
    const auto known = outward_.find(size.symbol());
    if (known != outward_.end())
      return known->second;
    return outward_.emplace(size.symbol(), around_.fresh_dim()).first->second;
  }
  fact outward(const value& from) {
    auto made = fact_of(from);
    made.constant.reset();
    if (made.dims)
      for (auto& size : *made.dims)
        size = outward(size);
    return made;
  }

private:
  graph& around_;
  graph& body_;
  std::map<std::uint32_t, dim> inward_;
  std::map<std::uint32_t, dim> outward_;
};

void tell(value& to, const fact& known, translator& between) {
  if (!known.present)
    return;
  to.kind = known.kind;
  if (known.type)
    to.type = known.type;
  to.dims = known.dims;
  if (to.dims)
    for (auto& size : *to.dims)
      size = between.inward(size);
}

/// One subgraph with these facts about the inputs that the operator feeds.
result<typed_subgraph> type_one(const subgraph& from, std::span<const fact> fed,
                                std::span<const fact> inputs, graph& symbols) {
  typed_subgraph made{*from.body, {}};
  if (made.body.inputs.size() != fed.size() + from.captures.size())
    return fail(errc::invalid_argument, "{} with {} inputs expected, {} found", from.name,
                fed.size(), made.body.inputs.size() - from.captures.size());
  translator between{symbols, made.body};
  for (std::size_t index = 0; index < fed.size(); ++index)
    tell(made.body.values[made.body.inputs[index]], fed[index], between);
  for (std::size_t index = 0; index < from.captures.size(); ++index)
    tell(made.body.values[made.body.inputs[fed.size() + index]], inputs[from.captures[index]],
         between);
  auto inferred = made.body;
  if (infer_all(inferred))
    made.body = std::move(inferred);
  for (auto id : made.body.outputs)
    made.outputs.push_back(between.outward(made.body.values[id]));
  return made;
}

fact scalar(dtype type) {
  return {.present = true, .type = type, .dims = symbolic_shape{}};
}

fact without_axes(const fact& of, std::size_t axis, std::size_t count) {
  auto made = of;
  made.constant.reset();
  made.elements.clear();
  if (made.dims && made.dims->size() >= axis + count)
    made.dims->erase(made.dims->begin() + static_cast<std::ptrdiff_t>(axis),
                     made.dims->begin() + static_cast<std::ptrdiff_t>(axis + count));
  else
    made.dims.reset();
  return made;
}

/// Forgets the dims in which `next` differs from what was carried in; false if there are none.
/// `changing` are the symbols that stand for such dims.
bool weaken(fact& carried, const fact& next, graph& symbols, std::set<std::uint32_t>& changing) {
  if (carried.kind != next.kind || !carried.dims)
    return false;
  if (!next.dims || next.dims->size() != carried.dims->size()) {
    carried.dims.reset();
    return true;
  }
  bool changed = false;
  for (std::size_t axis = 0; axis < carried.dims->size(); ++axis) {
    auto& size = (*carried.dims)[axis];
    if (size == (*next.dims)[axis] || (!size.known() && changing.contains(size.symbol())))
      continue;
    size = symbols.fresh_dim();
    changing.insert(size.symbol());
    changed = true;
  }
  return changed;
}

/// What a Loop or Scan feeds: `first` facts, then what is carried, then `last`. Repeats until no
/// dim that changes is taken for one that stays; `results` is where carried values come out.
result<typed_subgraph> type_iteration(const node& of, std::span<const fact> inputs, graph& symbols,
                                      std::vector<fact> first, std::vector<fact> carried,
                                      std::vector<fact> last, std::size_t results) {
  constexpr int most_rounds = 3;
  std::set<std::uint32_t> changing;
  for (int round = 0;; ++round) {
    auto fed = first;
    fed.insert(fed.end(), carried.begin(), carried.end());
    fed.insert(fed.end(), last.begin(), last.end());
    auto made = type_one(of.subgraphs.front(), fed, inputs, symbols);
    if (!made)
      return made;
    if (made->outputs.size() < results + carried.size())
      return fail(errc::invalid_argument, "a body of at least {} outputs expected, {} found",
                  results + carried.size(), made->outputs.size());
    bool changed = false;
    for (std::size_t index = 0; index < carried.size(); ++index) {
      if (round < most_rounds)
        changed =
            weaken(carried[index], made->outputs[results + index], symbols, changing) || changed;
      else
        changed = std::exchange(carried[index].dims, std::nullopt).has_value() || changed;
    }
    if (!changed)
      return made;
  }
}

std::vector<fact> carried_in(std::span<const fact> from) {
  std::vector<fact> made{from.begin(), from.end()};
  for (auto& next : made) {
    next.constant.reset();
    next.elements.clear();
  }
  return made;
}

result<typed_subgraph> type_loop(const node& of, std::span<const fact> inputs, graph& symbols) {
  const auto own = own_inputs(of);
  const auto carried = own > 2 ? inputs.subspan(2, own - 2) : std::span<const fact>{};
  return type_iteration(of, inputs, symbols, {scalar(dtype::int64), scalar(dtype::boolean)},
                        carried_in(carried), {}, 1);
}

// Scan-8 has sequence lengths in input 0 and a batch in axis 0 of all others.
result<typed_subgraph> type_scan(const node& of, std::span<const fact> inputs, graph& symbols) {
  const std::size_t ahead = of.version < 9 ? 1 : 0;
  const auto own = own_inputs(of);
  const auto scanned = of.attributes.integer("num_scan_inputs", 0);
  if (scanned < 1 || own < ahead || static_cast<std::uint64_t>(scanned) > own - ahead)
    return fail(errc::invalid_argument, "num_scan_inputs in [1, {}] expected, {} found",
                own - std::min(own, ahead), scanned);
  const auto states = own - ahead - static_cast<std::size_t>(scanned);
  auto carried = carried_in(inputs.subspan(ahead, states));
  std::vector<fact> last;
  for (std::size_t index = 0; index < static_cast<std::size_t>(scanned); ++index) {
    const auto& from = inputs[ahead + states + index];
    std::size_t axis = 0;
    if (ahead == 0 && from.dims) {
      auto counted = scan_axis(of, "scan_input_axes", index, from.dims->size());
      if (!counted)
        return propagate(counted);
      axis = *counted;
    }
    last.push_back(without_axes(from, axis, 1 + ahead));
  }
  if (ahead > 0)
    for (auto& next : carried)
      next = without_axes(next, 0, 1);
  return type_iteration(of, inputs, symbols, {}, std::move(carried), std::move(last), 0);
}

result<typed_subgraph> type_map(const node& of, std::span<const fact> inputs, graph& symbols) {
  std::vector<fact> fed;
  for (std::size_t index = 0; index < own_inputs(of); ++index) {
    fed.push_back(without_axes(inputs[index], 0, 0));
    if (fed.back().kind == value_kind::sequence)
      fed.back().dims.reset();
    fed.back().kind = value_kind::tensor;
  }
  return type_one(of.subgraphs.front(), fed, inputs, symbols);
}

} // namespace

result<std::size_t> scan_axis(const node& of, const char* attribute, std::size_t index,
                              std::size_t rank) {
  const auto axes = of.attributes.integers(attribute);
  return inference::axis_in(index < axes.size() ? axes[index] : 0, rank);
}

result<std::vector<typed_subgraph>> type_subgraphs(const node& of, std::span<const fact> inputs,
                                                   graph& symbols) {
  std::vector<typed_subgraph> made;
  for (const auto& from : of.subgraphs) {
    auto typed = of.op_type == "Loop"          ? type_loop(of, inputs, symbols)
                 : of.op_type == "Scan"        ? type_scan(of, inputs, symbols)
                 : of.op_type == "SequenceMap" ? type_map(of, inputs, symbols)
                                               : type_one(from, {}, inputs, symbols);
    if (!typed)
      return propagate(typed);
    made.push_back(*std::move(typed));
  }
  return made;
}

} // namespace troupe::graph
