#include "runtime/exec/run_state.hpp"

#include <utility>

namespace troupe::exec {
namespace {

std::byte* constant_data(const plan::plan& of, std::uint32_t index) {
  // Kernels only read their inputs; a view has one pointer type for both directions.
  return const_cast<std::byte*>(of.constants[index]->data.data());
}

} // namespace

run_state::run_state(std::shared_ptr<const plan::plan> of)
    : plan_{std::move(of)}, input_views_(plan_->inputs.size()),
      output_views_(plan_->outputs.size()) {
  const auto add = [this](const plan::argument& argument) {
    const auto index = static_cast<std::uint32_t>(views_.size());
    views_.push_back({nullptr, argument.desc});
    switch (argument.at.where) {
      case plan::place::absent: break;
      case plan::place::input: input_views_[argument.at.index].push_back(index); break;
      case plan::place::output: output_views_[argument.at.index].push_back(index); break;
      case plan::place::constant:
        views_.back().data = constant_data(*plan_, argument.at.index);
        break;
      case plan::place::arena: arena_views_.push_back({index, argument.at.offset}); break;
    }
  };
  for (const auto& step : plan_->steps) {
    for (const auto& input : step.inputs)
      add(input);
    for (const auto& output : step.outputs)
      add(output);
  }
}

void run_state::bind(std::byte* arena) {
  if (arena_ == arena)
    return;
  arena_ = arena;
  for (const auto& [view, offset] : arena_views_)
    views_[view].data = arena + offset;
}

void run_state::set_input(std::size_t index, const std::byte* data) {
  for (auto view : input_views_[index])
    views_[view].data = const_cast<std::byte*>(data);
}

void run_state::set_output(std::size_t index, std::byte* data) {
  for (auto view : output_views_[index])
    views_[view].data = data;
}

result<void> run_state::launch(stream& on, const observer& watch) {
  const std::span<const tensor_view> views{views_};
  std::size_t next = 0;
  for (std::size_t index = 0; index < plan_->steps.size(); ++index) {
    const auto& step = plan_->steps[index];
    const auto inputs = views.subspan(next, step.inputs.size());
    const auto outputs = views.subspan(next + inputs.size(), step.outputs.size());
    next += inputs.size() + outputs.size();
    std::span<std::byte> workspace;
    if (step.workspace.where == plan::place::arena)
      workspace = {arena_ + step.workspace.offset, step.workspace_bytes};
    if (watch)
      watch(index, false);
    if (auto done = step.run->launch(on, {inputs, outputs, workspace}); !done)
      return fail(done.error().code, "node '{}' ({}): {}", step.node, step.op_type,
                  done.error().text);
    if (watch)
      watch(index, true);
  }
  return {};
}

} // namespace troupe::exec
