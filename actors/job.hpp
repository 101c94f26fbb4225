#pragma once

#include "actors/live_jobs.hpp"
#include "actors/troupe.hpp"
#include "runtime/batching/shape_key.hpp"
#include "runtime/placement/load.hpp"
#include "runtime/telemetry/probe.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::actors {

struct served_model;
struct placed;
struct sequence_step;

/// Index into the system's table of stages; 0 is no stage.
using stage_id = std::uint32_t;

/// Units of the budget that a request shares with its sub-requests: given back with the last answer
/// of them all, so that a parent waiting for its children cannot starve them. Thread-safe.
class shared_units {
public:
  explicit shared_units(protocol::admission held) : held_(std::move(held)) {}

  /// One more user; false if the last one has left.
  [[nodiscard]] bool join() noexcept;
  void drop() noexcept;

private:
  protocol::admission held_;
  std::atomic<int> users_{1};
};

/// What a request has gone through. Written by the stage that holds the job.
struct timestamps {
  time_point accepted{};
  time_point queued{};
  time_point input{}; ///< its batch reached the device
  time_point started{};
  time_point ended{};
};

} // namespace troupe::actors

namespace troupe {

/// One accepted request. Moves from stage to stage, one of which holds it at a time; `answer`,
/// `cancel` and `done` may be called by anyone at any time. The last reference to go answers
/// `internal` if nobody did.
struct job::impl : std::enable_shared_from_this<job::impl> {
  using part_fn = protocol::service::part_fn;

  /// Use `make`: a job is registered as soon as it is shared.
  impl(inference_request asked, part_fn answer_to, std::shared_ptr<actors::shared_units> with,
       std::shared_ptr<actors::live_jobs> entered, time_point expires,
       std::shared_ptr<const impl> of);
  /// `units` may be null for the system's own requests; otherwise the job is one of their users.
  [[nodiscard]] static std::shared_ptr<impl> make(inference_request asked, part_fn answer_to,
                                                  std::shared_ptr<actors::shared_units> units,
                                                  std::shared_ptr<actors::live_jobs> registry,
                                                  time_point expires,
                                                  std::shared_ptr<const impl> parent = nullptr);
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl();

  /// Gives the one final answer; false if it was given before. Any thread.
  bool answer(response_part part);
  bool fail_with(errc code, std::string text, std::uint32_t retry_after_ms = 0) {
    return answer(tl::unexpected<error>{error{code, std::move(text), retry_after_ms}});
  }

  /// What becomes of a request that nobody answered: `internal`, or `unavailable` in a stop.
  void answer_dropped(const char* how);

  /// Asks everyone to drop the job; does not answer.
  void cancel() noexcept { cancelled_ = true; }
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }
  [[nodiscard]] bool answered() const noexcept { return answered_; }
  /// No further work is wanted: cancelled, answered, or its parent is.
  [[nodiscard]] bool over() const noexcept {
    return cancelled_ || answered_ || (parent && parent->over());
  }

  /// Says which model serves the job and for whose numbers the answer counts. Before the job is
  /// handed on.
  void resolve(std::shared_ptr<const actors::served_model> served);
  /// Back to where no model was chosen: the one that was is being replaced.
  void unresolve();

  /// Moves the deadline to a later time. For whoever holds the job.
  void extend(time_point later);
  /// Whether jobs were made as parts of this one.
  [[nodiscard]] bool has_children() const noexcept { return has_children_; }

  // Fixed when the job is made.
  const std::shared_ptr<const impl> parent; ///< of a sub-request, or of a part of a larger request
  const std::shared_ptr<actors::shared_units> units;
  const std::shared_ptr<actors::live_jobs> registry;

  // Of the stage that holds the job.
  time_point deadline;
  inference_request request;
  std::shared_ptr<const actors::served_model> model;
  const actors::placed* where = nullptr; ///< one of the model's placements
  bool postprocess = false;              ///< something is to be done to its outputs
  std::int64_t rows = 1;
  placement::heading on_way; ///< to a batcher
  batching::shape_key key;
  std::vector<std::int64_t> lengths; ///< of what the model pads, as they came
  std::vector<shape> run_dims;       ///< of the inputs as they are padded; empty: as they came
  /// The inputs as they came, where they were completed: for another version than the first.
  std::vector<named_tensor> before_completion;
  std::unique_ptr<actors::sequence_step> step; ///< where the model is stateful
  std::uint32_t attempts = 0;                  ///< times a batch with it failed
  std::uint32_t detours = 0;                   ///< times the place it was sent to was gone
  bool internal = false;                       ///< warm-up: does not count
  actors::timestamps at;

  /// Its number in a capture; 0: none.
  std::atomic<std::uint64_t> captured{0};

  /// The batcher in whose queue it waits, for whoever cancels it; 0: none.
  std::atomic<actors::stage_id> queued_at{0};

private:
  [[nodiscard]] telemetry::request_times spent(time_point now) const noexcept;

  mutable std::atomic<bool> has_children_{false}; // children are made of a job that others hold
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> answered_{false};
  std::atomic<telemetry::probe*> probe_{nullptr};
  part_fn answer_to_;
  std::vector<std::shared_ptr<const actors::served_model>> former_; ///< `probe_` may be one's
  actors::live_jobs::link link_;
};

} // namespace troupe
