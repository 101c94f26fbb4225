#pragma once

#include "actors/commons.hpp"
#include "actors/device_work.hpp"
#include "actors/interfaces.hpp"
#include "runtime/placement/fair_queue.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

namespace troupe::actors {

/// What a device's actor is spawned with; the same again when it is restarted.
struct device_setup {
  std::shared_ptr<troupe::device> on;
  stage_id id = 0;
  store::per_memory<stage_id> memory{}; ///< who keeps its books; 0: none needed
  stream_mode mode = stream_mode::own_thread;
  device_signs signs{};
};

/// Owns one device's stream, run states and kept blocks. Steers only: the stream's thread computes
/// all but the shortest work, storage plans, and everything comes back as a message.
class device_state {
public:
  static inline const char* name = "device";

  explicit device_state(device_actor::pointer self) : self_(self) {}
  device_state(const device_state&) = delete;
  device_state& operator=(const device_state&) = delete;
  ~device_state();

  device_actor::behavior_type make_behavior(commons_ptr shared, device_setup setup);

private:
  struct parked {
    std::shared_ptr<placement::executable> of;
    std::vector<shape> dims;
    std::vector<batch_ptr> batches;
  };
  struct kept_block {
    lease_ptr block;
    bool used = true;
  };
  /// A run state between two batches. It keeps its plan alive.
  struct resting_run {
    std::shared_ptr<placement::executable> of;
    program_ptr program;
    std::unique_ptr<placement::run> state; ///< null while it runs
  };
  using work_ptr = std::shared_ptr<device_work>;

  void advance();
  void attempt(const batch_ptr& next, const std::function<void()>& work);
  void run_planned(const batch_ptr& next, program_ptr program, std::int64_t bucket);
  void done(std::uint64_t ticket, const failure& outcome);
  void rest(device_work& work);
  [[nodiscard]] bool may_run(const batch& next);
  void release(const batch& what, duration took);
  void finish(const batch& what, std::optional<error> failed);
  void report(const batch& what, std::optional<error> failed, duration took = {});

  // Memory (device_memory.cpp).
  void supply(std::uint64_t ticket, const work_ptr& work);
  void ask(memory_kind of, std::uint64_t ticket, const device_work& work);
  void granted(memory_kind of, std::uint64_t ticket, const lease_ptr& block,
               const failure& outcome);
  void ask_again(memory_kind of);
  void keep_lease(device_work& from, memory_kind of);
  lease_ptr kept(memory_kind of, std::size_t bytes);
  void yield(memory_kind of, bool all);

  // Plans (device_plans.cpp).
  void start(const batch_ptr& next);
  void park(batch_ptr next, std::vector<shape> dims,
            const std::shared_ptr<placement::executable>& of);
  void planned(std::uint64_t number, std::int64_t took, const program_ptr& program,
               const failure& outcome);

  // Streams (device_streams.cpp).
  void submit(std::uint64_t ticket, const work_ptr& work);
  void watch(std::uint64_t ticket, duration limit);
  void probe();
  void probed(const failure& outcome);
  [[nodiscard]] stream* stream_here_for(duration expected);

  device_actor::pointer self_;
  commons_ptr shared_;
  device_setup setup_;
  std::unique_ptr<stream> stream_;
  std::unique_ptr<stream> inline_stream_;    ///< for short work; opened when there is some
  placement::fair_queue<batch_ptr> pending_; ///< by the batchers they come from
  /// Of the batches that run or are next to: what they hold beside the device, or wait for.
  std::unordered_map<std::uint64_t, std::unique_ptr<placement::resource_claim>> claims_;
  std::unordered_map<std::uint64_t, work_ptr> running_; ///< by ticket; some still wait for memory
  std::map<std::uint64_t, parked> planning_;            ///< by the number of the order
  store::per_memory<std::vector<kept_block>> kept_;     ///< for the next batches
  std::unordered_map<const placement::program*, resting_run> runs_;
  duration planning_time_ = std::chrono::milliseconds{20};
  time_point last_ended_{}; ///< when the stream was through with the batch before
  std::uint64_t probe_ = 0; ///< ticket of the work that shows whether the device is fit; 0: none
};

/// Spawn with `sys.spawn(device, shared, setup)`.
device_actor::behavior_type device(device_actor::stateful_pointer<device_state> self,
                                   commons_ptr shared, device_setup setup);

} // namespace troupe::actors
