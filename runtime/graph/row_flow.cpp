// The proof walks the graph once. Beside dims and content (graph::infer, with one symbol for the
// number of rows) each value has a state: shared, sizes or rows (rows/row_rule.hpp). A value that
// fits none ends the proof.

#include "runtime/graph/row_flow.hpp"

#include "runtime/graph/dim_math.hpp"
#include "runtime/graph/rows/row_rule.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace troupe::graph {

namespace {

using kind = row_state::kind;

const row_entry* find_rule(std::string_view domain, std::string_view op_type) {
  using key = std::pair<std::string_view, std::string_view>;
  static const auto rules = [] {
    std::map<key, const row_entry*> joined;
    for (auto family : {
             elementwise_row_rules(),
             compute_row_rules(),
             movement_row_rules(),
             mathematics_row_rules(),
             network_row_rules(),
             quantization_row_rules(),
             machine_learning_row_rules(),
             contrib_row_rules(),
             indexing_row_rules(),
             vision_row_rules(),
         })
      for (const auto& entry : family)
        joined.emplace(key{entry.domain, entry.op_type}, &entry);
    return joined;
  }();
  const auto found = rules.find({domain, op_type});
  return found != rules.end() ? found->second : nullptr;
}

bool takes_operand(const post_op& step) {
  return step.kind == post_op_kind::add || step.kind == post_op_kind::multiply;
}

class prover {
public:
  explicit prover(const graph& of) : of_{of}, facts_(of.values.size()), states_(of.values.size()) {
    scratch_.symbols = of.symbols;
    rows_ = scratch_.fresh_dim("rows");
    counts_rows_.resize(scratch_.symbols.size(), false);
    counts_rows_.back() = true;
  }

  row_report prove() {
    auto why = inputs();
    for (node_id id = 0; !why && id < of_.nodes.size(); ++id) {
      if (of_.nodes[id].removed)
        continue;
      why = step(of_.nodes[id]);
      if (why)
        why = fmt::format("node '{}' ({}): {}", of_.nodes[id].name, of_.nodes[id].op_type, *why);
      else
        note_inside(id);
    }
    for (std::size_t index = 0; !why && index < of_.outputs.size(); ++index) {
      const auto& state = states_[of_.outputs[index]];
      if (!state.has_rows() || state.axis != 0 || state.size != rows_)
        why = fmt::format("output '{}' does not have the rows in axis 0",
                          of_.values[of_.outputs[index]].name);
    }
    return {!why.has_value(), why.value_or(""), std::move(inside_)};
  }

private:
  using flaw = std::optional<std::string>; ///< why the proof ends

  flaw inputs() {
    for (value_id id = 0; id < of_.values.size(); ++id)
      if (of_.values[id].constant)
        facts_[id] = fact_of(of_.values[id]);
    if (of_.inputs.empty())
      return "the graph has no inputs";
    std::vector<dim> replaced;
    for (auto id : of_.inputs) {
      const auto& input = of_.values[id];
      if (!input.dims || input.dims->empty())
        return fmt::format("input '{}' has no axis 0", input.name);
      if (input.dims->front().known())
        return fmt::format("input '{}' always has {} rows", input.name, input.dims->front().size());
      replaced.push_back(input.dims->front());
    }
    for (auto id : of_.inputs) {
      facts_[id] = fact_of(of_.values[id]);
      for (std::size_t axis = 0; axis < facts_[id].dims->size(); ++axis) {
        auto& size = (*facts_[id].dims)[axis];
        if (std::ranges::find(replaced, size) == replaced.end())
          continue;
        if (axis > 0)
          return fmt::format("axis {} of input '{}' is as long as there are rows", axis,
                             of_.values[id].name);
        size = rows_;
      }
      states_[id] = {kind::rows, 0, rows_};
    }
    return std::nullopt;
  }

  // Marks symbols made since the last call: one of unknown origin may count rows, unless what it
  // measures is shared.
  void trace_symbols(bool shared) {
    for (auto id = counts_rows_.size(); id < scratch_.symbols.size(); ++id) {
      const auto* origins = scratch_.origins(static_cast<std::uint32_t>(id));
      counts_rows_.push_back(
          origins == nullptr ? !shared : std::ranges::any_of(*origins, [&](std::uint32_t part) {
            return counts_rows_[part];
          }));
    }
  }

  bool counts_rows(dim size) const { return !size.known() && counts_rows_[size.symbol()]; }

  bool dims_count_rows(const fact& of) const {
    return !of.dims || std::ranges::any_of(*of.dims, [&](dim size) { return counts_rows(size); });
  }

  // Whether every element is known and no element counts rows.
  bool content_is_shared(const fact& of) const {
    if (of.constant)
      return true;
    return !of.elements.empty() && std::ranges::all_of(of.elements, [&](const element& next) {
      return next.is_known() && (next.is_number() || !counts_rows(next.size()));
    });
  }

  flaw step(const node& of) {
    std::vector<fact> inputs;
    std::vector<row_state> states;
    for (auto id : of.inputs) {
      inputs.push_back(id == no_value ? fact{} : facts_[id]);
      states.push_back(id == no_value ? row_state{} : states_[id]);
    }
    auto outputs = infer(of, inputs, scratch_);
    if (!outputs)
      return outputs.error().text;
    trace_symbols(std::ranges::all_of(states, &row_state::is_shared));
    auto state = state_of(of, inputs, states, outputs->front());
    if (!state)
      return state.error();
    for (std::size_t index = 0; index < of.outputs.size(); ++index) {
      if (of.outputs[index] == no_value)
        continue;
      auto& output = (*outputs)[index];
      auto own = *state;
      if (const auto* rule = find_rule(of.domain, of.op_type);
          index > 0 && own.has_rows() && rule != nullptr)
        own.axis -= std::min(own.axis, rule->later_outputs_lack);
      if (auto why = check(output, own))
        return why;
      states_[of.outputs[index]] = own;
      facts_[of.outputs[index]] = std::move(output);
    }
    return std::nullopt;
  }

  void note_inside(node_id id) {
    const auto& inputs = of_.nodes[id].inputs;
    if (inputs.empty() || inputs[0] == no_value)
      return;
    if (const auto& state = states_[inputs[0]]; state.has_rows() && state.axis != 0)
      inside_.push_back(id);
  }

  // The state is what it claims to be: rows in their axis, and no other axis that counts them.
  flaw check(const fact& output, const row_state& state) const {
    if (!output.dims)
      return "the rank of an output is not known";
    for (std::size_t axis = 0; axis < output.dims->size(); ++axis) {
      const auto size = (*output.dims)[axis];
      const bool expected = state.has_rows() && axis == state.axis;
      if (expected && size != state.size)
        return fmt::format("axis {} of its output is {}, not the rows", axis,
                           to_string(size, scratch_));
      if (!expected && counts_rows(size))
        return fmt::format("axis {} of its output, {}, depends on the number of rows", axis,
                           to_string(size, scratch_));
    }
    if (state.has_rows() && state.axis >= output.dims->size())
      return "its output has no axis of rows";
    return std::nullopt;
  }

  using judged = tl::expected<row_state, std::string>;

  judged state_of(const node& of, const std::vector<fact>& inputs,
                  const std::vector<row_state>& states, const fact& output) {
    const auto all = [&](auto&& holds) { return std::ranges::all_of(states, holds); };
    if (all([](const row_state& state) { return state.is_shared(); }))
      return row_state{};
    if (of.op_type == "Shape" || of.op_type == "Size")
      return row_state{content_is_shared(output) ? kind::shared : kind::sizes};
    if (all([](const row_state& state) { return !state.has_rows(); }))
      return without_rows(of, states, output);
    auto own = inputs.size();
    for (const auto& next : of.post_ops)
      own = takes_operand(next) ? std::min(own, next.operand) : own;
    const auto* rule = find_rule(of.domain, of.op_type);
    if (rule == nullptr)
      return rows_mix("no rule says where its rows go");
    const std::span<const row_state> own_states{states.data(), own};
    if (std::ranges::none_of(own_states, &row_state::has_rows))
      return rows_mix("only a post-op's operand has rows");
    const auto size = std::ranges::find_if(states, &row_state::has_rows)->size;
    if (std::ranges::any_of(
            states, [&](const row_state& state) { return state.has_rows() && state.size != size; }))
      return rows_mix("an input has each row in one slice, another has it in several");
    auto axis = rule->rule({of, {inputs.data(), own}, own_states, output, rows_, scratch_});
    if (!axis)
      return tl::unexpected{axis.error()};
    if (auto why = post_ops(of, inputs, states, output, *axis))
      return rows_mix(std::move(*why));
    const bool known = rule->regroups && output.dims && *axis < output.dims->size();
    return row_state{kind::rows, *axis, known ? (*output.dims)[*axis] : size};
  }

  // From shapes alone: shared if no element counts rows; a tensor of one repeated value has rows
  // where it is as long as there are rows.
  judged without_rows(const node& of, const std::vector<row_state>& states,
                      const fact& output) const {
    if (content_is_shared(output))
      return row_state{};
    if (!dims_count_rows(output))
      return row_state{kind::sizes};
    const bool repeats =
        of.op_type == "ConstantOfShape" || (of.op_type == "Expand" && states[0].is_shared());
    if (repeats && output.dims)
      for (std::size_t axis = 0; axis < output.dims->size(); ++axis)
        if ((*output.dims)[axis] == rows_)
          return row_state{kind::rows, axis, rows_};
    return rows_mix("the size of its output depends on the number of rows");
  }

  flaw post_ops(const node& of, const std::vector<fact>& inputs,
                const std::vector<row_state>& states, const fact& output, std::size_t axis) const {
    for (const auto& next : of.post_ops) {
      if (!takes_operand(next))
        continue;
      if (!output.dims)
        return "the rank of its output is not known";
      const std::array<fact, 2> both{output, inputs[next.operand]};
      const std::array<row_state, 2> with{row_state{kind::rows, axis, {}}, states[next.operand]};
      if (auto here = broadcast_rows(both, with, output.dims->size()); !here)
        return "post-op: " + here.error();
    }
    return std::nullopt;
  }

  const graph& of_;
  graph scratch_; ///< symbols of the proof; those of the graph keep their ids
  dim rows_;
  std::vector<bool> counts_rows_; ///< by symbol: whether it may depend on the number of rows
  std::vector<fact> facts_;
  std::vector<row_state> states_;
  std::vector<node_id> inside_;
};

} // namespace

row_report rows_independent(const graph& of) {
  return prover{of}.prove();
}

bool has_row_rule(std::string_view domain, std::string_view op_type) {
  return find_rule(domain, op_type) != nullptr;
}

} // namespace troupe::graph
