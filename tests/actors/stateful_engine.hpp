#pragma once

// A stateful model for the fake device: y is the sum of the rows x of a sequence so far.

#include "runtime/sequences/rules.hpp"
#include "tests/actors/fake_engine.hpp"

#include <array>

namespace troupe::test {

/// Inputs x, start, sum; outputs y, new_sum. Fails for a row that begins with
/// `identity_run::poison` and for a start with a state.
class sum_run final : public placement::run {
public:
  sum_run(std::int64_t rows, std::shared_ptr<work_list> to) : rows_(rows), to_(std::move(to)) {}

  void bind(std::byte*) override {}
  void set_input(std::size_t index, const std::byte* data) override { from_.at(index) = data; }
  void set_output(std::size_t index, std::byte* data) override { into_.at(index) = data; }
  result<void> launch(stream&) override {
    to_->run_rows.push_back(rows_);
    to_->cost.reset();
    const auto* x = reinterpret_cast<const float*>(from_[0]);
    const auto* start = reinterpret_cast<const std::int32_t*>(from_[1]);
    const auto* sum = reinterpret_cast<const float*>(from_[2]);
    for (std::int64_t i = 0; i < 2 * rows_; ++i) {
      if (x[i] == identity_run::poison)
        return fail(errc::internal, "poisoned row");
      if (start[i / 2] == 1 && sum[i] != 0)
        return fail(errc::internal, "a sequence begins with the state of another");
      const float value = x[i] + sum[i];
      for (auto* into : into_)
        reinterpret_cast<float*>(into)[i] = value;
    }
    return {};
  }

private:
  std::int64_t rows_;
  std::shared_ptr<work_list> to_;
  std::array<const std::byte*, 3> from_{};
  std::array<std::byte*, 2> into_{};
};

class sum_program final : public placement::program {
public:
  sum_program(std::int64_t rows, std::shared_ptr<work_list> to)
      : rows_(rows), to_(std::move(to)), inputs_{{dtype::float32, {rows, 2}},
                                                 {dtype::int32, {rows, 1}},
                                                 {dtype::float32, {rows, 2}}},
        outputs_{{dtype::float32, {rows, 2}}, {dtype::float32, {rows, 2}}} {}

  std::span<const tensor_desc> inputs() const noexcept override { return inputs_; }
  std::span<const tensor_desc> outputs() const noexcept override { return outputs_; }
  std::size_t arena_bytes() const noexcept override { return 256; }
  std::unique_ptr<placement::run> make_run() const override {
    return std::make_unique<sum_run>(rows_, to_);
  }

private:
  std::int64_t rows_;
  std::shared_ptr<work_list> to_;
  std::vector<tensor_desc> inputs_;
  std::vector<tensor_desc> outputs_;
};

inline signature sum_signature() {
  const auto named = [](const char* name, dtype type, std::int64_t width) {
    return tensor_signature{name, type, {-1, width}, {"", ""}, {}, false, {}};
  };
  signature io;
  io.inputs = {named("x", dtype::float32, 2), named("start", dtype::int32, 1),
               named("sum", dtype::float32, 2)};
  io.outputs = {named("y", dtype::float32, 2), named("new_sum", dtype::float32, 2)};
  io.inputs[1].internal = io.inputs[2].internal = io.outputs[1].internal = true;
  return io;
}

/// Its programs are there from the beginning.
class sum_executable final : public actors::simulation::stand_in {
public:
  sum_executable(std::shared_ptr<fake_device> on, std::shared_ptr<work_list> to)
      : stand_in(std::move(on), sum_signature(), fake_weight_bytes) {
    for (std::int64_t rows = 1; rows <= 64; rows *= 2)
      programs_[rows] = std::make_shared<sum_program>(rows, to);
  }

  std::shared_ptr<const placement::program> find(std::span<const shape> dims) const override {
    const auto at = programs_.find(dims[0][0]);
    return at == programs_.end() ? nullptr : at->second;
  }
  result<std::shared_ptr<const placement::program>> prepare(std::span<const shape> dims) override {
    return find(dims);
  }
  bool caches(const placement::program&) const override { return true; }

private:
  std::map<std::int64_t, std::shared_ptr<const placement::program>> programs_;
};

inline std::shared_ptr<const sequences::rules> sum_rules(std::size_t slots, duration max_idle) {
  const auto one = [](auto value, shape dims) {
    std::array<decltype(value), 2> values{value, value};
    const auto count = static_cast<std::size_t>(element_count(dims));
    return tensor{std::is_same_v<decltype(value), float> ? dtype::float32 : dtype::int32,
                  std::move(dims), copy_of(std::as_bytes(std::span{values.data(), count}))};
  };
  sequences::rules made;
  made.max_idle = max_idle;
  made.slots = slots;
  made.controls.push_back({sequences::control::kind::start, 1, one(std::int32_t{0}, {1, 1}),
                           one(std::int32_t{1}, {1, 1})});
  made.states.push_back({2, 1, one(0.0F, {1, 2}), 0});
  made.state_bytes = 64;
  return std::make_shared<const sequences::rules>(std::move(made));
}

} // namespace troupe::test
