#pragma once

// The whole actor graph on CAF's deterministic scheduler, on one thread and in virtual time: what a
// server would do, with nothing that depends on the machine.

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"
#include "actors/wiring.hpp"
#include "kernels/sim/timeline.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace troupe::actors::simulation {

/// Not thread-safe: everything happens on the thread that calls.
class virtual_system {
public:
  virtual_system();
  ~virtual_system(); ///< stop
  virtual_system(const virtual_system&) = delete;
  virtual_system& operator=(const virtual_system&) = delete;

  /// Wires the parts, all of them on the scheduler and on this system's clock, and starts them.
  /// `adjust` may look at each child and change how it is spawned.
  void start(system_parts parts, const std::function<void(child_spec&)>& adjust = {});
  /// Ends every actor.
  void stop();

  /// Virtual time; it starts an hour after the clock's epoch. May outlive the system.
  [[nodiscard]] std::shared_ptr<const clock_source> clock() const;
  [[nodiscard]] time_point now() const noexcept;
  /// What simulated devices are to use. It moves with the clock where time is turned by this class.
  [[nodiscard]] const std::shared_ptr<sim::virtual_timeline>& time() const noexcept {
    return time_;
  }

  /// Delivers messages and fires what is due until nothing is left to do at this instant.
  void run();
  /// When the next alarm or the next work of a device is due.
  [[nodiscard]] std::optional<time_point> next() const;
  /// Moves time on to `until`; everything happens at its own time on the way.
  void run_until(time_point until);

  [[nodiscard]] const commons_ptr& shared() const noexcept { return shared_; }
  [[nodiscard]] caf::scheduler::test_coordinator& scheduler() const noexcept { return *scheduler_; }

private:
  class scheduler_clock;

  void move_to(time_point at);

  std::shared_ptr<scheduler_clock> clock_;
  std::shared_ptr<sim::virtual_timeline> time_ = std::make_shared<sim::virtual_timeline>();
  commons_ptr shared_ = std::make_shared<commons>();
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> actors_;
  caf::scheduler::test_coordinator* scheduler_;
  supervisor_actor root_;
};

} // namespace troupe::actors::simulation
