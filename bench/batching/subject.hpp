#pragma once

// A real model under one policy: what the load of batching_models goes to.

#include "actors/troupe.hpp"
#include "runtime/batching/policy.hpp"

#include <memory>
#include <string>
#include <vector>

namespace troupe::bench {

/// What all subjects of a comparison have in common.
struct subject_setup {
  std::string model;               ///< a folder of a model repository, or an ONNX file
  std::vector<std::string> shapes; ///< of one request, one row each: "x=1,3,48,192"
  std::vector<std::string> files;  ///< of inputs: "x=x.npy"; what has none is random
  std::string device = "cpu:threads=1";
  std::int64_t max_batch = 32;
  std::size_t max_queue_rows = 256;
  std::uint64_t seed = 1;  ///< of the numbers in the request
  std::string capture_dir; ///< where each subject records what it does; empty: nowhere

  /// What the model is served as: the last part of its path, without an extension.
  [[nodiscard]] std::string name() const;
};

/// What a subject's device has done since the start.
struct device_work_done {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;
  duration busy{0};
};

/// One model in a runtime of its own, whose batches follow one policy. What it learned and planned
/// stays while others have their turn; without requests it costs nothing.
class subject {
public:
  /// Loads the model and runs every batch size often enough to be planned and known.
  /// `policy`: a name as policy_named knows it. `objective`: 0 for none.
  [[nodiscard]] static result<std::unique_ptr<subject>>
  start(const subject_setup& with, const std::string& policy, duration objective);

  /// One row. `done` comes on a thread of the runtime's.
  void ask(std::function<void(response_part)> done) { ask(inputs_, std::move(done)); }

  [[nodiscard]] const std::string& policy() const noexcept { return policy_; }
  [[nodiscard]] duration objective() const noexcept { return rule_.objective; }
  /// Whether the policy does anything else where there is an objective.
  [[nodiscard]] bool heeds_objective() const noexcept { return rule_.adapts; }
  [[nodiscard]] device_work_done work_done() const;

private:
  subject(std::string model, std::string policy, batching::policy rule,
          std::unique_ptr<runtime> in);

  void ask(std::vector<named_tensor> inputs, std::function<void(response_part)> done);
  [[nodiscard]] result<void> warm_up(std::int64_t most);

  std::string model_;
  std::string policy_;
  batching::policy rule_;
  std::vector<named_tensor> inputs_;
  std::unique_ptr<runtime> in_; ///< last: ends first
};

} // namespace troupe::bench
