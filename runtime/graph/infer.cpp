#include "runtime/graph/infer.hpp"

#include "runtime/graph/infer/inference.hpp"

#include <map>
#include <string>
#include <utility>

namespace troupe::graph {

namespace {

// Every operator with a rule; a name stands in one family only.
const infer_entry* find_rule(const node& of) {
  using key = std::pair<std::string_view, std::string_view>;
  static const auto rules = [] {
    std::map<key, const infer_entry*> joined;
    for (auto family : {
             elementwise_rules(),
             convolution_rules(),
             pooling_rules(),
             product_rules(),
             normalization_rules(),
             reduction_rules(),
             reshape_rules(),
             shape_rules(),
             movement_rules(),
             indexing_rules(),
             value_rules(),
             rearrangement_rules(),
             random_rules(),
             vision_rules(),
             control_rules(),
             resize_rules(),
             mathematics_rules(),
             recurrent_rules(),
             attention_rules(),
             quantization_rules(),
             machine_learning_rules(),
             contrib_rules(),
             contrib_attention_rules(),
         })
      for (const auto& entry : family)
        joined.emplace(key{entry.domain, entry.op_type}, &entry);
    return joined;
  }();
  const auto found = rules.find({of.domain, of.op_type});
  return found != rules.end() ? found->second : nullptr;
}

result<void> check_counts(const inference& at, const infer_entry& rule) {
  const auto inputs = at.input_count();
  if (inputs < rule.least_inputs || inputs > rule.most_inputs) {
    const auto most = rule.most_inputs == any_number ? std::string{"any number of"}
                                                     : std::to_string(rule.most_inputs);
    return fail(errc::invalid_argument, "{} to {} inputs expected, {} found", rule.least_inputs,
                most, inputs);
  }
  for (std::size_t input = 0; input < rule.least_inputs; ++input)
    if (!at.has(input))
      return fail(errc::invalid_argument, "input {} is left out but not optional", input);
  if (at.output_count() > rule.most_outputs)
    return fail(errc::invalid_argument, "at most {} outputs expected, {} found", rule.most_outputs,
                at.output_count());
  return {};
}

// A fused step works on the output in place: its operand must not be larger.
result<void> check_post_ops(const node& of, std::span<const fact> inputs,
                            std::span<const fact> outputs, const graph& symbols) {
  for (const auto& step : of.post_ops) {
    if (step.kind != post_op_kind::add && step.kind != post_op_kind::multiply)
      continue;
    if (step.operand >= inputs.size() || !inputs[step.operand].present)
      return fail(errc::invalid_argument, "post-op operand {} expected, {} inputs found",
                  step.operand, inputs.size());
    const auto& operand = inputs[step.operand].dims;
    const auto& output = outputs.front().dims;
    if (operand && output && concrete(*operand) && concrete(*output)
        && !broadcasts_into(*operand, *output))
      return fail(errc::invalid_argument,
                  "post-op operand that broadcasts into {} expected, {} found",
                  to_string(*output, symbols), to_string(*operand, symbols));
  }
  return {};
}

// Rules may multiply and add sizes that passed this.
result<void> check_sizes(const fact& of) {
  constexpr std::int64_t largest = std::int64_t{1} << 40;
  if (!of.dims)
    return {};
  for (const auto& axis : *of.dims)
    if (axis.known() && axis.size() > largest)
      return fail(errc::invalid_argument, "sizes up to {} expected, {} found", largest,
                  axis.size());
  const auto known = concrete(*of.dims);
  const auto count = known ? checked_element_count(*known) : result<std::int64_t>{0};
  return count ? result<void>{} : propagate(count);
}

result<std::vector<fact>> infer_unnamed(const node& of, std::span<const fact> inputs,
                                        graph& fresh) {
  const auto* entry = find_rule(of);
  if (entry == nullptr)
    return fail(errc::unimplemented, "operator {}{}{} is not supported", of.domain,
                of.domain.empty() ? "" : ":", of.op_type);
  inference at{of, inputs, fresh};
  if (auto good = check_counts(at, *entry); !good)
    return propagate(good);
  for (const auto& input : inputs)
    if (auto good = check_sizes(input); !good)
      return propagate(good);
  if (auto done = entry->rule(at); !done)
    return propagate(done);
  if (of.post_ops.empty())
    propagate_elements(at);
  for (const auto& output : at.outputs())
    if (auto good = check_sizes(output); !good)
      return propagate(good);
  if (auto good = check_post_ops(of, inputs, at.outputs(), fresh); !good)
    return propagate(good);
  return std::move(at.outputs());
}

// A declared dim is better than an unknown one; where both are numbers the rule is right.
symbolic_shape merged(const symbolic_shape& inferred,
                      const std::optional<symbolic_shape>& declared) {
  auto dims = inferred;
  if (declared && declared->size() == dims.size())
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      if (!dims[axis].known() && (*declared)[axis].known())
        dims[axis] = (*declared)[axis];
  return dims;
}

result<void> write_back(const node& of, const fact& found, value& to, bool declared) {
  if (declared && to.type && found.type && *to.type != *found.type)
    return fail(errc::invalid_argument,
                "node '{}' ({}): output '{}' is declared as {} but has type {}", of.name,
                of.op_type, to.name, to_string(*to.type), to_string(*found.type));
  to.kind = found.kind;
  if (found.type)
    to.type = found.type;
  if (found.dims)
    to.dims = declared ? merged(*found.dims, to.dims) : *found.dims;
  else if (!declared)
    to.dims.reset();
  return {};
}

} // namespace

fact fact_of(const value& known) {
  return {.present = true,
          .type = known.type,
          .dims = known.dims,
          .constant = known.constant,
          .elements = {},
          .kind = known.kind};
}

result<std::vector<fact>> infer(const node& of, std::span<const fact> inputs, graph& fresh) {
  auto found = infer_unnamed(of, inputs, fresh);
  if (!found)
    return fail(found.error().code, "node '{}' ({}): {}", of.name, of.op_type, found.error().text);
  return found;
}

result<void> infer_all(graph& on) {
  std::vector<fact> facts(on.values.size());
  for (value_id id = 0; id < on.values.size(); ++id)
    if (on.values[id].producer == no_node)
      facts[id] = fact_of(on.values[id]);
  std::vector<bool> is_output(on.values.size(), false);
  for (auto id : on.outputs)
    is_output[id] = true;
  std::vector<fact> inputs;
  for (const auto& of : on.nodes) {
    if (of.removed)
      continue;
    inputs.clear();
    for (auto id : of.inputs)
      inputs.push_back(id == no_value ? fact{} : facts[id]);
    auto found = infer(of, inputs, on);
    if (!found)
      return propagate(found);
    for (std::size_t index = 0; index < of.outputs.size(); ++index) {
      const auto id = of.outputs[index];
      if (id == no_value)
        continue;
      if (auto done = write_back(of, (*found)[index], on.values[id], is_output[id]); !done)
        return done;
      facts[id] = std::move((*found)[index]);
      facts[id].present = true;
      facts[id].type = on.values[id].type;
      facts[id].dims = on.values[id].dims;
    }
  }
  return {};
}

} // namespace troupe::graph
