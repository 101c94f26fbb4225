// GELU as exporters write it becomes Gelu (operator set 20):
//
//     0.5 * x * (1 + Erf(x / sqrt 2))                                    exact
//     0.5 * x * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x ^ 3)))        approximate
//
// The three factors may be multiplied in any order.

#include "runtime/passes/pass.hpp"

#include "runtime/passes/match.hpp"

#include <algorithm>
#include <numbers>

namespace troupe::passes {

namespace {

// Factors of a product of products; inner products that others read stay whole.
void collect_factors(const rewriter& edit, const node& product, std::vector<value_id>& to) {
  for (auto input : product.inputs) {
    const auto* inner = edit.plain_producer(input, "Mul");
    if (inner != nullptr && edit.uses(input) == 1 && to.size() < 4)
      collect_factors(edit, *inner, to);
    else
      to.push_back(input);
  }
}

// The value `number` is added to or multiplied with, by a node of that operator only read here.
std::optional<value_id> partner(const rewriter& edit, value_id of, std::string_view op_type,
                                double number) {
  const auto* binary = edit.plain_producer(of, op_type);
  if (binary == nullptr || edit.uses(of) != 1)
    return std::nullopt;
  for (std::size_t side : {1U, 0U})
    if (holds(edit.on(), binary->inputs[side], number))
      return binary->inputs[1 - side];
  return std::nullopt;
}

std::optional<value_id> argument(const rewriter& edit, value_id of, std::string_view function) {
  const auto* made_by = edit.plain_producer(of, function);
  return made_by != nullptr && edit.uses(of) == 1 ? std::optional{made_by->inputs[0]}
                                                  : std::nullopt;
}

bool is_exact_curve(const rewriter& edit, value_id of, value_id x) {
  const auto inner = argument(edit, of, "Erf");
  if (!inner)
    return false;
  if (partner(edit, *inner, "Mul", std::numbers::sqrt2 / 2) == x)
    return true;
  const auto* divide = edit.plain_producer(*inner, "Div");
  return divide != nullptr && edit.uses(*inner) == 1 && divide->inputs[0] == x
         && holds(edit.on(), divide->inputs[1], std::numbers::sqrt2);
}

bool is_cube(const rewriter& edit, value_id of, value_id x) {
  if (const auto* power = edit.plain_producer(of, "Pow"); power != nullptr)
    return power->inputs[0] == x && holds(edit.on(), power->inputs[1], 3.0);
  const auto* product = edit.plain_producer(of, "Mul");
  if (product == nullptr)
    return false;
  std::vector<value_id> factors;
  collect_factors(edit, *product, factors);
  return factors == std::vector<value_id>{x, x, x};
}

bool is_approximate_curve(const rewriter& edit, value_id of, value_id x) {
  const auto scaled = argument(edit, of, "Tanh");
  const auto sum = scaled ? partner(edit, *scaled, "Mul", 0.7978845608028654) : std::nullopt;
  const auto* add = sum ? edit.plain_producer(*sum, "Add") : nullptr;
  if (add == nullptr || edit.uses(*sum) != 1)
    return false;
  const auto term = other_input(*add, x);
  if (!term || edit.uses(*term) != 1)
    return false;
  const auto cube = partner(edit, *term, "Mul", 0.044715);
  return cube && is_cube(edit, *cube, x);
}

struct found_gelu {
  value_id x;
  bool approximate;
};

std::optional<found_gelu> match(const rewriter& edit, const node& root) {
  std::vector<value_id> factors;
  collect_factors(edit, root, factors);
  if (factors.size() != 3)
    return std::nullopt;
  std::ranges::sort(factors);
  do {
    if (!holds(edit.on(), factors[0], 0.5))
      continue;
    const auto curve = partner(edit, factors[1], "Add", 1.0);
    if (curve && is_exact_curve(edit, *curve, factors[2]))
      return found_gelu{factors[2], false};
    if (curve && is_approximate_curve(edit, *curve, factors[2]))
      return found_gelu{factors[2], true};
  } while (std::ranges::next_permutation(factors).found);
  return std::nullopt;
}

} // namespace

// What is no longer read is left to remove_dead_nodes.
result<std::size_t> find_gelu(graph::graph& on, const pass_context&) {
  rewriter edit{on};
  std::size_t found = 0;
  for (node_id id = 0; id < on.nodes.size(); ++id) {
    const auto& of = on.nodes[id];
    if (of.removed || !of.domain.empty() || of.op_type != "Mul" || !of.post_ops.empty())
      continue;
    const auto gelu = match(edit, of);
    if (!gelu || !same_dims(on, gelu->x, of.outputs.front())
        || on.values[gelu->x].type != dtype::float32)
      continue;
    node made{.name = of.name,
              .domain = "",
              .op_type = "Gelu",
              .version = 20,
              .attributes = {},
              .inputs = {gelu->x},
              .outputs = {},
              .post_ops = {}};
    if (gelu->approximate)
      made.attributes.set("approximate", std::string{"tanh"});
    edit.replace_node(id, std::move(made));
    ++found;
  }
  return found;
}

} // namespace troupe::passes
