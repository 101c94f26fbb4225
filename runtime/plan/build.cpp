#include "runtime/plan/build.hpp"

#include "runtime/plan/assign.hpp"
#include "runtime/plan/draft.hpp"
#include "runtime/plan/flops.hpp"
#include "runtime/plan/tuning.hpp"

#include <utility>

namespace troupe::plan {
namespace {

std::string name_of(const draft_step& step, std::span<const draft_step> earlier) {
  if (step.of)
    return step.of->name;
  // What the planner adds is named after the node whose result it moves.
  for (auto before = earlier.rbegin(); before != earlier.rend(); ++before)
    for (const auto& output : before->outputs)
      if (output.at == step.inputs[0].at && before->of)
        return before->of->name + "/" + step.op_type;
  return step.op_type;
}

result<void> choose_kernel(draft_step& step, const draft& of, device& on, weight_cache& weights,
                           tuning* tuned) {
  static const attribute_map no_attributes;
  std::vector<operand> inputs;
  for (const auto& input : step.inputs) {
    if (input.at == no_storage) {
      inputs.emplace_back();
      continue;
    }
    const auto& memory = of.storages[input.at];
    inputs.push_back(
        {true, input.desc,
         memory.from == storage::kind::constant ? of.constants[memory.index] : nullptr});
  }
  std::vector<tensor_desc> outputs;
  small_vector<bool, 4> wanted;
  for (const auto& output : step.outputs) {
    outputs.push_back(output.desc);
    wanted.push_back(output.at != no_storage);
  }
  const auto* node = step.of;
  kernel_spec spec{step.domain,
                   step.op_type,
                   node ? node->version : 1,
                   node ? &node->attributes : &no_attributes,
                   inputs,
                   outputs,
                   wanted,
                   node ? std::span<const post_op>{node->post_ops} : std::span<const post_op>{},
                   on.properties().threads};
  const auto fastest = tuned ? tuned->candidate_for(spec, on) : std::string{};
  spec.prefer = fastest;
  auto choice = on.choose_kernel(spec, weights);
  if (!choice)
    return propagate(choice);
  step.choice = std::move(*choice);
  step.flops = flops_of(spec);
  return {};
}

/// Keeps the constants that some kernel reads at launch, once each.
class constant_table {
public:
  constant_table(const draft& of, plan& into)
      : draft_{of}, plan_{into}, kept_(of.constants.size(), none) {}

  location keep(std::uint32_t index) {
    if (kept_[index] == none) {
      kept_[index] = static_cast<std::uint32_t>(plan_.constants.size());
      plan_.constants.push_back(draft_.constants[index]);
    }
    return {place::constant, kept_[index], 0};
  }

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  const draft& draft_;
  plan& plan_;
  std::vector<std::uint32_t> kept_;
};

step finish(draft_step& from, std::string name, const assignment& memory, location workspace,
            constant_table& constants) {
  step made;
  for (std::size_t index = 0; index < from.inputs.size(); ++index) {
    const auto& input = from.inputs[index];
    argument to{{}, input.desc};
    if (input.at != no_storage && from.choice.chosen->reads(index)) {
      to.at = memory.storages[input.at];
      if (to.at.where == place::constant)
        to.at = constants.keep(to.at.index);
    }
    made.inputs.push_back(std::move(to));
  }
  for (const auto& output : from.outputs)
    made.outputs.push_back(
        {output.at == no_storage ? location{} : memory.storages[output.at], output.desc});
  made.workspace = workspace;
  made.workspace_bytes = from.choice.chosen->workspace_bytes();
  made.node = std::move(name);
  made.op_type = from.op_type;
  made.flops = from.flops;
  if (from.of)
    made.post_ops = from.of->post_ops;
  made.run = std::move(from.choice.chosen);
  made.declined = std::move(from.choice.declined);
  return made;
}

} // namespace

result<std::shared_ptr<const plan>> build(const graph::graph& of, std::span<const shape> inputs,
                                          device& on, weight_cache& weights,
                                          const build_options& options) {
  auto values = find_shapes(of, inputs, options.host ? *options.host : on);
  if (!values)
    return propagate(values);
  auto draft = lower(of, *values, on, on.properties().threads);
  std::vector<std::string> names;
  for (auto& step : draft.steps) {
    const std::span<const draft_step> earlier{draft.steps.data(), names.size()};
    names.push_back(name_of(step, earlier));
    if (auto chosen = choose_kernel(step, draft, on, weights, options.tuned); !chosen)
      return fail(chosen.error().code, "node '{}' ({}): {}", names.back(), step.op_type,
                  chosen.error().text);
  }
  if (options.tuned)
    if (auto saved = options.tuned->save(); !saved)
      return propagate(saved);
  const auto memory = assign_memory(draft);

  auto made = std::make_shared<plan>();
  for (std::size_t index = 0; index < inputs.size(); ++index)
    made->inputs.push_back(
        {*values->facts[of.inputs[index]].type, inputs[index], layout::row_major});
  made->outputs = std::move(draft.outputs);
  constant_table constants{draft, *made};
  for (std::size_t index = 0; index < draft.steps.size(); ++index)
    made->steps.push_back(finish(draft.steps[index], std::move(names[index]), memory,
                                 memory.workspaces[index], constants));
  made->arena_bytes = memory.arena_bytes;
  made->live_bound_bytes = memory.live_bound_bytes;
  made->threads = on.properties().threads;
  made->views = draft.views;
  made->known = draft.known;
  made->in_place = memory.in_place;
  return std::shared_ptr<const plan>{std::move(made)};
}

} // namespace troupe::plan
