#pragma once

// What `run`, `bench` and `inspect` share: one model on the CPU of this process, without actors.

#include "kernels/device/device.hpp"
#include "runtime/exec/model.hpp"
#include "runtime/exec/run_state.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace troupe::cli {

/// Options that say which model runs how.
struct engine_options {
  std::string model;
  int threads = 0; ///< 0: what affinity and cgroup allow
  std::string precision = "f32";
  bool batch_invariant = false;
  bool whole_batches = false;
  std::vector<std::string> shapes; ///< "name=1,3,224,224"
  std::string tuning;              ///< file of measured choices; empty: the table's order
  std::int64_t batch = 0;          ///< 0: as the shapes say, 1 where they do not
};

void add_model_options(CLI::App& command, engine_options& into);
void add_shape_options(CLI::App& command, engine_options& into);

/// The model on a CPU device. unimplemented for a precision other than f32.
[[nodiscard]] result<std::shared_ptr<exec::model>> load_engine(const engine_options& from);

/// Dims of every input: those given, else the declared ones with the batch for a free first axis.
/// Throws usage_error for a name the model does not have, a list that is none, and another free
/// axis nobody gave.
[[nodiscard]] std::vector<shape> input_dims(const signature& io, const engine_options& from);

/// A plan with memory of its own, ready to run on the calling thread.
class session {
public:
  [[nodiscard]] static result<session> open(exec::model& of, std::span<const shape> dims);

  [[nodiscard]] const plan::plan& of() const noexcept { return state_->of(); }
  /// Row-major, alive as long as the session runs.
  void set_input(std::size_t index, const std::byte* data) { state_->set_input(index, data); }
  /// What the last run wrote; valid until the next.
  [[nodiscard]] tensor output(std::size_t index) const;
  [[nodiscard]] result<void> run(const exec::run_state::observer& watch = {});

private:
  session() = default;

  std::unique_ptr<stream> stream_;
  std::unique_ptr<buffer> arena_;
  std::unique_ptr<exec::run_state> state_;
  std::vector<std::shared_ptr<std::byte[]>> outputs_;
};

/// Runs a model that has a program instead of plans, once, on the calling thread. unimplemented for
/// outputs that are no tensors.
[[nodiscard]] result<std::vector<tensor>> compute(const exec::model& of,
                                                  std::span<const tensor> inputs);

} // namespace troupe::cli
