#pragma once

// An engine and a device that do nothing until the test says so: a model whose output is its input,
// and a stream whose work is held back.

#include "actors/simulation/stand_in.hpp"
#include "kernels/device/device.hpp"
#include "kernels/sim/apart_memory.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace troupe::test {

struct submitted_work {
  stream* on = nullptr;
  stream::issue_fn issue;
  stream::done_fn done;
};

/// What the fake device was asked to do and has not done yet. Outlives streams and devices.
struct work_list {
  std::deque<submitted_work> waiting;
  std::vector<std::int64_t> run_rows; ///< rows of every program launched, in order
  std::vector<float> run_values;      ///< what their rows began with
  std::function<void()> while_running;
  std::optional<duration> cost; ///< of the run just launched, where its model has one
  int streams_opened = 0;
  int failing_streams = 0;            ///< so many times `open_stream` fails
  int fatal_plans = 0;                ///< so many plans end the actor that makes them
  int failing_runs = 0;               ///< so many run states find no memory
  std::vector<submitted_work> silent; ///< what never comes back

  /// Does the first piece of work; false if there is none.
  bool run_next(std::optional<error> failing = {}) {
    if (waiting.empty())
      return false;
    auto next = std::move(waiting.front());
    waiting.pop_front();
    auto outcome = next.issue(*next.on);
    if (while_running)
      while_running();
    if (failing)
      outcome = tl::unexpected<error>{*failing};
    next.done(std::move(outcome));
    return true;
  }
};

/// The first piece of work never comes to an end; false if there is none.
inline bool fall_silent(work_list& on) {
  if (on.waiting.empty())
    return false;
  on.silent.push_back(std::move(on.waiting.front()));
  on.waiting.pop_front();
  return true;
}

class held_stream final : public stream {
public:
  /// `memory`: refuses what it does not know; null: anything is copied.
  held_stream(std::shared_ptr<work_list> to, std::shared_ptr<sim::apart_memory> memory)
      : to_(std::move(to)), memory_(std::move(memory)) {}
  ~held_stream() override {
    std::erase_if(to_->waiting, [this](const auto& one) { return one.on == this; });
    std::erase_if(to_->silent, [this](const auto& one) { return one.on == this; });
  }

  void submit(issue_fn issue, done_fn done) override {
    to_->waiting.push_back({this, std::move(issue), std::move(done)});
  }
  result<void> copy(std::byte* to, const std::byte* from, std::size_t bytes) override {
    if (memory_)
      if (auto known = memory_->count_copy(to, from, bytes); !known)
        return propagate(known);
    std::memcpy(to, from, bytes);
    return {};
  }
  result<std::unique_ptr<event>> record() override {
    return fail(errc::unimplemented, "no events");
  }
  void synchronize() override {}

private:
  std::shared_ptr<work_list> to_;
  std::shared_ptr<sim::apart_memory> memory_;
};

class fake_device final : public device {
public:
  explicit fake_device(std::shared_ptr<work_list> to) : to_(std::move(to)) {
    about_.name = about_.kind = "fake";
    about_.memory_bytes = std::size_t{1} << 24;
  }

  const device_properties& properties() const noexcept override { return about_; }
  device_properties& about() noexcept { return about_; }
  const std::shared_ptr<work_list>& work() const noexcept { return to_; }
  /// Bytes of all blocks that are out.
  std::size_t held_bytes(sim::side of = sim::side::device) const noexcept {
    return memory_->held(of);
  }
  sim::traffic copied() const { return memory_->copied(); }
  result<std::unique_ptr<buffer>> allocate(std::size_t bytes) override {
    return memory_->allocate(sim::side::device, bytes);
  }
  result<std::unique_ptr<buffer>> allocate_host(std::size_t bytes) override {
    return memory_->allocate(sim::side::host, bytes);
  }
  result<std::unique_ptr<stream>> open_stream(stream_mode) override {
    ++to_->streams_opened;
    if (to_->failing_streams > 0 && to_->failing_streams--)
      return fail(errc::unavailable, "no stream today");
    return std::make_unique<held_stream>(to_, about_.host_visible ? nullptr : memory_);
  }
  layout_rule layouts(const kernel_spec&) const override { return layout_rule::row_major_only; }
  result<kernel_choice> choose_kernel(const kernel_spec&, weight_cache&) override {
    return fail(errc::unimplemented, "no kernels here");
  }

private:
  std::shared_ptr<work_list> to_;
  static constexpr std::size_t plenty = std::size_t{1} << 30;
  std::shared_ptr<sim::apart_memory> memory_ =
      std::make_shared<sim::apart_memory>("fake", plenty, plenty);
  device_properties about_;
};

/// y = x; fails for a batch in which a row begins with `poison`.
class identity_run final : public placement::run {
public:
  identity_run(tensor_desc desc, std::shared_ptr<work_list> to, std::optional<duration> cost)
      : desc_(std::move(desc)), to_(std::move(to)), cost_(cost) {}

  static constexpr float poison = -666;

  void bind(std::byte*) override {}
  void set_input(std::size_t, const std::byte* data) override { from_ = data; }
  void set_output(std::size_t, std::byte* data) override { into_ = data; }
  result<void> launch(stream&) override {
    to_->run_rows.push_back(desc_.dims[0]);
    to_->cost = cost_;
    const auto* values = reinterpret_cast<const float*>(from_);
    const auto width = desc_.elements() / desc_.dims[0];
    for (std::int64_t row = 0; row < desc_.dims[0]; ++row)
      if (width > 0 && values[row * width] == poison)
        return fail(errc::internal, "poisoned row");
      else if (width > 0)
        to_->run_values.push_back(values[row * width]);
    std::memcpy(into_, from_, desc_.bytes());
    return {};
  }

private:
  tensor_desc desc_;
  std::shared_ptr<work_list> to_;
  std::optional<duration> cost_;
  const std::byte* from_ = nullptr;
  std::byte* into_ = nullptr;
};

class identity_program final : public placement::program {
public:
  identity_program(tensor_desc desc, std::shared_ptr<work_list> to, std::optional<duration> cost)
      : descs_{std::move(desc)}, to_(std::move(to)), cost_(cost) {}

  std::span<const tensor_desc> inputs() const noexcept override { return descs_; }
  std::span<const tensor_desc> outputs() const noexcept override { return descs_; }
  std::size_t arena_bytes() const noexcept override { return 256; }
  std::unique_ptr<placement::run> make_run() const override {
    if (to_->failing_runs > 0 && to_->failing_runs--)
      throw std::bad_alloc{};
    return std::make_unique<identity_run>(descs_[0], to_, cost_);
  }

private:
  std::vector<tensor_desc> descs_;
  std::shared_ptr<work_list> to_;
  std::optional<duration> cost_;
};

inline constexpr std::size_t fake_weight_bytes = 4096;

/// Programs are made on demand.
class identity_executable final : public actors::simulation::stand_in {
public:
  /// `cost`: of every run, instead of the fixture's.
  identity_executable(std::shared_ptr<fake_device> on, std::shared_ptr<work_list> to,
                      std::optional<duration> cost = {})
      : stand_in(std::move(on), actors::simulation::x_to_y(dtype::float32), fake_weight_bytes),
        to_(std::move(to)), cost_(cost) {}

  std::shared_ptr<const placement::program> find(std::span<const shape> dims) const override {
    const auto at = programs_.find(key(dims));
    return at == programs_.end() ? nullptr : at->second;
  }
  result<std::shared_ptr<const placement::program>> prepare(std::span<const shape> dims) override {
    if (to_->fatal_plans > 0 && to_->fatal_plans--)
      throw 1; // nothing that anybody catches
    auto& known = programs_[key(dims)];
    if (!known)
      known = std::make_shared<identity_program>(tensor_desc{dtype::float32, dims[0]}, to_, cost_);
    return known;
  }
  bool caches(const placement::program& wanted) const override {
    return std::any_of(programs_.begin(), programs_.end(),
                       [&](const auto& one) { return one.second.get() == &wanted; });
  }
  /// As if other plans had driven this one out.
  void forget(std::int64_t rows, std::int64_t columns) { programs_.erase({rows, columns}); }

private:
  static std::pair<std::int64_t, std::int64_t> key(std::span<const shape> dims) {
    return {dims[0][0], dims[0][1]};
  }

  std::shared_ptr<work_list> to_;
  std::optional<duration> cost_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::shared_ptr<const placement::program>>
      programs_;
};

} // namespace troupe::test
