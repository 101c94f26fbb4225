// Operators that pass their input on as it is: Identity, Dropout at inference, casts to the same
// type, transposes and reshapes that change nothing, products with 1 and sums with 0.

#include "runtime/passes/pass.hpp"

#include "runtime/graph/onnx_type.hpp"
#include "runtime/passes/match.hpp"

#include <algorithm>
#include <array>

namespace troupe::passes {

namespace {

bool keeps_dims(const graph::graph& on, const node& of) {
  return same_dims(on, of.inputs.front(), of.outputs.front());
}

bool is_identity(const graph::graph&, const node&) {
  return true;
}

// training_mode (input 2, since opset 12) must not be something only known at run time.
bool drops_nothing(const graph::graph& on, const node& of) {
  const bool mask_wanted = of.outputs.size() > 1 && of.outputs[1] != no_value;
  if (mask_wanted)
    return false;
  if (of.inputs.size() < 3 || of.inputs[2] == no_value)
    return true;
  if (!on.is_constant(of.inputs[2]))
    return false;
  const auto& mode = *on.values[of.inputs[2]].constant;
  return mode.type == dtype::boolean && mode.data.size() == 1 && mode.data.view[0] == std::byte{0};
}

bool casts_to_same(const graph::graph& on, const node& of) {
  const auto to = graph::dtype_of_onnx(of.attributes.integer("to", 0));
  return to && on.values[of.inputs.front()].type == *to;
}

bool keeps_order(const graph::graph& on, const node& of) {
  const auto perm = of.attributes.integers("perm");
  const auto& dims = on.values[of.inputs.front()].dims;
  if (perm.empty())
    return dims && dims->size() <= 1;
  return std::ranges::is_sorted(perm) && perm.front() == 0;
}

bool joins_one(const graph::graph&, const node& of) {
  return of.inputs.size() == 1;
}

bool is_neutral(const graph::graph& on, const node& of, float neutral, bool either_side) {
  const auto found = match_scalar(on, of);
  return found && found->number == neutral && (either_side || !found->scalar_first);
}

bool adds_nothing(const graph::graph& on, const node& of) {
  return is_neutral(on, of, 0.0F, true);
}
bool subtracts_nothing(const graph::graph& on, const node& of) {
  return is_neutral(on, of, 0.0F, false);
}
bool multiplies_by_one(const graph::graph& on, const node& of) {
  return is_neutral(on, of, 1.0F, true);
}
bool divides_by_one(const graph::graph& on, const node& of) {
  return is_neutral(on, of, 1.0F, false);
}

struct entry {
  std::string_view op_type;
  bool (*changes_nothing)(const graph::graph&, const node&);
};

constexpr std::array table{
    entry{"Identity", is_identity},  entry{"Dropout", drops_nothing},
    entry{"Cast", casts_to_same},    entry{"Transpose", keeps_order},
    entry{"Reshape", keeps_dims},    entry{"Flatten", keeps_dims},
    entry{"Squeeze", keeps_dims},    entry{"Expand", keeps_dims},
    entry{"Concat", joins_one},      entry{"Add", adds_nothing},
    entry{"Sub", subtracts_nothing}, entry{"Mul", multiplies_by_one},
    entry{"Div", divides_by_one},
};

value_id passed_on(const graph::graph& on, const node& of) {
  const auto found = of.inputs.size() >= 2 ? match_scalar(on, of) : std::nullopt;
  const bool arithmetic = of.op_type == "Add" || of.op_type == "Mul";
  return found && arithmetic ? found->x : of.inputs.front();
}

} // namespace

result<std::size_t> remove_no_ops(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t removed = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    const auto* known = std::ranges::find(table, of.op_type, &entry::op_type);
    if (of.removed || !of.domain.empty() || !of.post_ops.empty() || known == table.end()
        || of.inputs.empty() || of.inputs.front() == no_value || of.outputs.front() == no_value
        || !known->changes_nothing(on, of))
      continue;
    removed += edit.bypass(id, passed_on(on, of)) ? 1 : 0;
  }
  return removed;
}

} // namespace troupe::passes
