#include "runtime/placement/engine_executable.hpp"

#include "runtime/exec/run_state.hpp"

#include <mutex>
#include <unordered_map>

namespace troupe::placement {

namespace {

class engine_run final : public run {
public:
  explicit engine_run(std::shared_ptr<const plan::plan> of) : state_(std::move(of)) {}

  void bind(std::byte* arena) override { state_.bind(arena); }
  void set_input(std::size_t index, const std::byte* data) override {
    state_.set_input(index, data);
  }
  void set_output(std::size_t index, std::byte* data) override { state_.set_output(index, data); }
  result<void> launch(stream& on) override { return state_.launch(on); }

private:
  exec::run_state state_;
};

class engine_program final : public program {
public:
  explicit engine_program(std::shared_ptr<const plan::plan> of) : plan_(std::move(of)) {}

  std::span<const tensor_desc> inputs() const noexcept override { return plan_->inputs; }
  std::span<const tensor_desc> outputs() const noexcept override { return plan_->outputs; }
  std::size_t arena_bytes() const noexcept override { return plan_->arena_bytes; }
  std::unique_ptr<run> make_run() const override { return std::make_unique<engine_run>(plan_); }
  const plan::plan& of() const noexcept { return *plan_; }

private:
  std::shared_ptr<const plan::plan> plan_;
};

class dynamic_run final : public run {
public:
  explicit dynamic_run(std::shared_ptr<exec::model> of) : model_(std::move(of)) {}

  void bind(std::byte*) override {}
  void set_input(std::size_t, const std::byte*) override {}
  void set_output(std::size_t, std::byte*) override {}
  result<void> launch(stream&) override {
    return fail(errc::internal, "outputs have no size before the run: compute them");
  }
  result<std::vector<tensor>> compute(std::vector<tensor> inputs, stream& on,
                                      const std::function<bool()>& stopped) override {
    std::vector<datum> given;
    given.reserve(inputs.size());
    for (auto& input : inputs)
      given.emplace_back(std::move(input));
    auto made = model_->program()->run(std::move(given), {on, stopped});
    if (!made)
      return propagate(std::move(made));
    std::vector<tensor> outputs;
    for (std::size_t index = 0; index < made->size(); ++index) {
      auto* content = std::get_if<tensor>(&(*made)[index]);
      if (!content)
        return fail(errc::unimplemented, "output '{}' is no tensor, which no protocol carries",
                    model_->io().outputs[index].name);
      outputs.push_back(std::move(*content));
    }
    return outputs;
  }

private:
  std::shared_ptr<exec::model> model_;
};

/// The one program of a model whose outputs show when it runs.
class dynamic_program final : public program {
public:
  explicit dynamic_program(std::shared_ptr<exec::model> of) : model_(std::move(of)) {}

  std::span<const tensor_desc> inputs() const noexcept override { return {}; }
  std::span<const tensor_desc> outputs() const noexcept override { return {}; }
  bool outputs_known() const noexcept override { return false; }
  std::size_t arena_bytes() const noexcept override { return 0; }
  std::unique_ptr<run> make_run() const override { return std::make_unique<dynamic_run>(model_); }

private:
  std::shared_ptr<exec::model> model_;
};

class engine_executable final : public executable {
public:
  explicit engine_executable(std::shared_ptr<exec::model> model) : model_(std::move(model)) {
    if (model_->program())
      dynamic_ = std::make_shared<const dynamic_program>(model_);
  }

  const signature& io() const noexcept override { return model_->io(); }
  bool rows_independent() const noexcept override { return model_->rows_independent(); }
  std::string why_rows_depend() const override { return model_->why_rows_depend(); }
  device& on() const noexcept override { return model_->on(); }
  std::size_t weight_bytes() const noexcept override { return model_->weight_bytes(); }

  std::shared_ptr<const program> find(std::span<const shape> dims) const override {
    if (dynamic_)
      return dynamic_;
    auto plan = model_->find_plan(dims);
    return plan ? program_of(std::move(plan)) : nullptr;
  }

  result<std::shared_ptr<const program>> prepare(std::span<const shape> dims) override {
    if (dynamic_)
      return dynamic_;
    auto plan = model_->make_plan(dims);
    if (!plan)
      return propagate(std::move(plan));
    return program_of(std::move(*plan));
  }

  bool caches(const program& wanted) const override {
    if (dynamic_)
      return &wanted == dynamic_.get();
    const auto* ours = dynamic_cast<const engine_program*>(&wanted);
    return ours && model_->caches(ours->of());
  }

  std::int64_t bucket_for(std::int64_t rows) const noexcept override {
    return model_->bucket_for(rows);
  }

private:
  // One program per plan, so that whoever keeps run states finds them again.
  std::shared_ptr<const program> program_of(std::shared_ptr<const plan::plan> plan) const {
    std::lock_guard lock(mutex_);
    if (programs_.size() > 4 * max_programs)
      std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
    auto& known = programs_[plan.get()];
    if (auto held = known.lock())
      return held;
    auto made = std::make_shared<const engine_program>(std::move(plan));
    known = made;
    return made;
  }

  static constexpr std::size_t max_programs = 64;

  std::shared_ptr<exec::model> model_;
  std::shared_ptr<const program> dynamic_; // null where plans run the model
  mutable std::mutex mutex_;
  mutable std::unordered_map<const plan::plan*, std::weak_ptr<const program>> programs_;
};

} // namespace

std::shared_ptr<executable> make_executable(std::shared_ptr<exec::model> model) {
  return std::make_shared<engine_executable>(std::move(model));
}

} // namespace troupe::placement
