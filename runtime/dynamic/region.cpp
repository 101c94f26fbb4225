#include "runtime/dynamic/region.hpp"

#include "runtime/dynamic/node_run.hpp"
#include "runtime/dynamic/plan_run.hpp"
#include "runtime/plan/build.hpp"
#include "runtime/plan/shapes.hpp"

#include <algorithm>
#include <utility>

namespace troupe::dynamic {

/// What runs for one set of input dims: a plan, nodes that need data, and the rest. Ids are those
/// of the region's graph.
struct region::prepared {
  std::vector<graph::value_id> head_inputs;
  std::vector<graph::value_id> head_outputs;
  std::unique_ptr<plan_run> head;
  std::vector<graph::node_id> alone;
  std::vector<std::shared_ptr<const tensor>> known; ///< by value, where planning found the content
  std::unique_ptr<region> tail;
};

namespace {

std::string key_of(std::span<const tensor> inputs) {
  std::string key;
  const auto add = [&key](std::int64_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (const auto& input : inputs) {
    add(static_cast<std::int64_t>(input.dims.size()));
    for (auto size : input.dims)
      add(size);
  }
  return key;
}

result<void> check_types(const part& of, std::span<const tensor> inputs) {
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const auto& expected = of.of.values[of.of.inputs[index]];
    if (expected.type != inputs[index].type)
      return fail(errc::invalid_argument, "'{}' is {}, but {} came", expected.name,
                  expected.type ? to_string(*expected.type) : "of no type",
                  to_string(inputs[index].type));
  }
  return {};
}

} // namespace

region::region(part of, const tools& with) : part_{std::move(of)}, with_{with} {}
region::~region() = default;

result<region::prepared_ptr> region::prepare(std::span<const tensor> inputs) const {
  if (auto good = check_types(part_, inputs); !good)
    return propagate(good);
  auto key = key_of(inputs);
  {
    const std::lock_guard lock{mutex_};
    if (const auto at = known_.find(key); at != known_.end()) {
      recent_.splice(recent_.begin(), recent_, at->second);
      return at->second->second;
    }
  }
  std::vector<shape> dims;
  for (const auto& input : inputs)
    dims.push_back(input.dims);
  auto made = make(dims);
  if (!made)
    return made;
  const std::lock_guard lock{mutex_};
  if (known_.contains(key)) // another thread was faster
    return made;
  recent_.emplace_front(key, *made);
  known_[std::move(key)] = recent_.begin();
  while (recent_.size() > std::max<std::size_t>(with_.max_plans, 1)) {
    known_.erase(recent_.back().first);
    recent_.pop_back();
  }
  return made;
}

result<region::prepared_ptr> region::make(std::span<const shape> dims) const {
  auto whole = plan::build(part_.of, dims, *with_.on, *with_.weights,
                           {.host = with_.host, .tuned = with_.tuned});
  if (!whole)
    return whole.error().code == errc::unimplemented ? split(dims) : propagate(whole);
  auto made = std::make_shared<prepared>();
  made->head_inputs = part_.of.inputs;
  made->head_outputs = part_.of.outputs;
  made->head = std::make_unique<plan_run>(*std::move(whole));
  return made;
}

result<region::prepared_ptr> region::split(std::span<const shape> dims) const {
  std::vector<bool> open;
  const auto& whole = part_.of;
  auto found = plan::find_shapes(whole, dims, *with_.host, &open);
  if (!found)
    return propagate(found);
  auto made = std::make_shared<prepared>();
  std::vector<graph::node_id> first;
  std::vector<graph::node_id> rest;
  std::vector<bool> wanted(whole.values.size(), false);
  mark_outputs(whole, wanted);
  for (graph::node_id id = 0; id < whole.nodes.size(); ++id) {
    if (!open[id]) {
      first.push_back(id);
      continue;
    }
    mark_inputs(whole.nodes[id], wanted);
    const bool ready = std::ranges::all_of(whole.nodes[id].inputs, [&](graph::value_id input) {
      return input == graph::no_value || found->facts[input].present;
    });
    (ready ? made->alone : rest).push_back(id);
  }
  for (const auto& fact : found->facts)
    made->known.push_back(fact.constant);
  if (!first.empty()) {
    auto head = take_part(whole, first, wanted, {});
    std::vector<shape> head_dims;
    for (auto id : head.inputs)
      head_dims.push_back(*graph::concrete(*found->facts[id].dims));
    auto plan = plan::build(head.of, head_dims, *with_.on, *with_.weights,
                            {.host = with_.host, .tuned = with_.tuned});
    if (plan) {
      made->head_inputs = std::move(head.inputs);
      made->head_outputs = std::move(head.outputs);
      made->head = std::make_unique<plan_run>(*std::move(plan));
    } else if (plan.error().code == errc::unimplemented) {
      // A kernel that must see contents: then each of these nodes runs by itself.
      made->alone.insert(made->alone.begin(), first.begin(), first.end());
    } else {
      return propagate(plan);
    }
  }
  if (!rest.empty()) {
    std::vector<bool> outputs(whole.values.size(), false);
    mark_outputs(whole, outputs);
    made->tail = std::make_unique<region>(take_part(whole, rest, outputs, found->facts), with_);
  }
  return made;
}

result<std::vector<tensor>> region::run(std::span<const tensor> inputs,
                                        const run_context& with) const {
  auto how = prepare(inputs);
  if (!how)
    return propagate(how);
  const auto& todo = **how;
  std::vector<datum> frame(part_.of.values.size());
  for (std::size_t index = 0; index < inputs.size(); ++index)
    frame[part_.of.inputs[index]] = inputs[index];
  const auto read = [&](graph::value_id id) -> const tensor* {
    if (const auto* made = std::get_if<tensor>(&frame[id]))
      return made;
    if (part_.of.values[id].constant)
      return part_.of.values[id].constant.get();
    return id < todo.known.size() ? todo.known[id].get() : nullptr;
  };
  if (todo.head) {
    std::vector<const tensor*> taken;
    for (auto id : todo.head_inputs)
      taken.push_back(read(id));
    auto made = todo.head->run(taken, with);
    if (!made)
      return propagate(made);
    for (std::size_t index = 0; index < made->size(); ++index)
      frame[todo.head_outputs[index]] = std::move((*made)[index]);
  }
  for (auto id : todo.alone) {
    const auto& node = part_.of.nodes[id];
    std::vector<datum> taken;
    for (auto input : node.inputs) {
      const auto* content = input == graph::no_value ? nullptr : read(input);
      taken.push_back(content == nullptr ? datum{} : datum{*content});
    }
    auto made = run_node(part_.of, node, taken, with_);
    if (!made)
      return propagate(made);
    for (std::size_t index = 0; index < node.outputs.size(); ++index)
      if (node.outputs[index] != graph::no_value)
        frame[node.outputs[index]] = std::move((*made)[index]);
  }
  if (todo.tail) {
    std::vector<tensor> taken;
    for (auto id : todo.tail->of().inputs)
      taken.push_back(*read(id));
    auto made = todo.tail->run(taken, with);
    if (!made)
      return made;
    for (std::size_t index = 0; index < made->size(); ++index)
      frame[todo.tail->of().outputs[index]] = std::move((*made)[index]);
  }
  std::vector<tensor> outputs;
  for (auto id : part_.of.outputs)
    outputs.push_back(*read(id));
  return outputs;
}

} // namespace troupe::dynamic
