#include "runtime/dynamic/plan_run.hpp"

#include "runtime/exec/run_state.hpp"

#include <algorithm>
#include <utility>

namespace troupe::dynamic {

struct plan_run::bound {
  exec::run_state state;
  std::shared_ptr<std::byte[]> arena;

  explicit bound(const std::shared_ptr<const plan::plan>& of)
      : state{of}, arena{allocate_aligned(of->arena_bytes)} {
    state.bind(arena.get());
  }
};

plan_run::plan_run(std::shared_ptr<const plan::plan> of) : plan_{std::move(of)} {}
plan_run::~plan_run() = default;

std::unique_ptr<plan_run::bound> plan_run::take() const {
  {
    const std::lock_guard lock{mutex_};
    if (!resting_.empty()) {
      auto taken = std::move(resting_.back());
      resting_.pop_back();
      return taken;
    }
  }
  return std::make_unique<bound>(plan_);
}

result<std::vector<tensor>> plan_run::run(std::span<const tensor* const> inputs,
                                          const run_context& with) const {
  auto own = take();
  for (std::size_t index = 0; index < inputs.size(); ++index)
    own->state.set_input(index, inputs[index]->data.data());
  std::vector<tensor> outputs;
  for (const auto& desc : plan_->outputs) {
    auto block = allocate_aligned(desc.bytes());
    own->state.set_output(outputs.size(), block.get());
    const std::span<const std::byte> bytes{block.get(), desc.bytes()};
    outputs.push_back({desc.type, desc.dims, {std::move(block), bytes}});
  }
  auto done = own->state.launch(with.on);
  const std::lock_guard lock{mutex_};
  resting_.push_back(std::move(own));
  if (!done)
    return propagate(done);
  return outputs;
}

} // namespace troupe::dynamic
