#include "runtime/exec/row_by_row.hpp"

#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/threads.hpp"
#include "runtime/exec/run_state.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace troupe::exec {
namespace {

constexpr std::size_t alignment = 64;

class row_kernel final : public kernel {
public:
  row_kernel(std::shared_ptr<const plan::plan> of_part, std::int64_t rows, int threads)
      : plan_{std::move(of_part)}, rows_{rows}, threads_{static_cast<int>(
                                                    std::min<std::int64_t>(threads, rows))} {}

  [[nodiscard]] std::string name() const override { return "row by row"; }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return arena_bytes() * static_cast<std::size_t>(threads_);
  }

  [[nodiscard]] result<void> launch(stream& on, const kernel_args& args) const override {
    std::atomic<std::size_t> next_arena = 0;
    std::mutex failing;
    result<void> outcome;
    cpu::parallel_for(threads_, rows_, cpu::parallel_threshold, [&](auto begin, auto end) {
      const cpu::kernel_thread alone{1};
      auto state = take_state();
      state->bind(args.workspace.data() + arena_bytes() * next_arena++);
      for (auto row = begin; row < end; ++row) {
        place(*state, args, row);
        if (auto done = state->launch(on); !done) {
          const std::lock_guard lock{failing};
          outcome = std::move(done);
        }
      }
      keep_state(std::move(state));
    });
    return outcome;
  }

private:
  [[nodiscard]] std::size_t arena_bytes() const noexcept {
    return (plan_->arena_bytes + alignment - 1) / alignment * alignment;
  }

  void place(run_state& state, const kernel_args& args, std::int64_t row) const {
    for (std::size_t index = 0; index < plan_->inputs.size(); ++index)
      state.set_input(index, args.inputs[index].data
                                 + plan_->inputs[index].bytes() * static_cast<std::size_t>(row));
    for (std::size_t index = 0; index < plan_->outputs.size(); ++index)
      state.set_output(index, args.outputs[index].data
                                  + plan_->outputs[index].bytes() * static_cast<std::size_t>(row));
  }

  // States wait here for the next launch, so that only the first ones allocate.
  [[nodiscard]] std::unique_ptr<run_state> take_state() const {
    {
      const std::lock_guard lock{mutex_};
      if (!spare_.empty()) {
        auto taken = std::move(spare_.back());
        spare_.pop_back();
        return taken;
      }
    }
    return std::make_unique<run_state>(plan_);
  }

  void keep_state(std::unique_ptr<run_state> state) const {
    const std::lock_guard lock{mutex_};
    spare_.push_back(std::move(state));
  }

  std::shared_ptr<const plan::plan> plan_;
  std::int64_t rows_;
  int threads_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<run_state>> spare_;
};

std::vector<tensor_desc> with_rows(std::vector<tensor_desc> of, std::int64_t rows) {
  for (auto& one : of)
    if (rows > 1)
      one.dims[0] = rows;
  return of;
}

} // namespace

std::shared_ptr<const plan::plan> row_by_row(std::shared_ptr<const plan::plan> of_part,
                                             std::int64_t rows, int threads) {
  auto made = std::make_shared<plan::plan>();
  made->inputs = with_rows(of_part->inputs, rows);
  made->outputs = with_rows(of_part->outputs, rows);
  made->threads = threads;
  plan::step all;
  for (std::uint32_t index = 0; index < made->inputs.size(); ++index)
    all.inputs.push_back({{plan::place::input, index, 0}, made->inputs[index]});
  for (std::uint32_t index = 0; index < made->outputs.size(); ++index)
    all.outputs.push_back({{plan::place::output, index, 0}, made->outputs[index]});
  all.node = "every row";
  all.op_type = "Model";
  all.run = std::make_shared<row_kernel>(std::move(of_part), rows, threads);
  all.workspace_bytes = all.run->workspace_bytes();
  all.workspace = {plan::place::arena, 0, 0};
  made->arena_bytes = all.workspace_bytes;
  made->live_bound_bytes = all.workspace_bytes;
  made->steps.push_back(std::move(all));
  return made;
}

} // namespace troupe::exec
