#pragma once

#include "actors/alarm.hpp"
#include "actors/commons.hpp"
#include "actors/interfaces.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe::actors {

/// Ends what outlives its deadline, wherever it is. One alarm for the earliest deadline of all:
/// with nothing to do it sleeps.
class watchdog_state {
public:
  static inline const char* name = "watchdog";

  explicit watchdog_state(watchdog_actor::pointer self) : self_(self) {}

  watchdog_actor::behavior_type make_behavior(commons_ptr shared);

private:
  void look();
  void cancel(const job_ptr& unwanted);
  void wake_at(time_point at);

  watchdog_actor::pointer self_;
  commons_ptr shared_;
  alarm alarm_;
};

/// Spawn with `sys.spawn(watchdog, shared)`.
watchdog_actor::behavior_type watchdog(watchdog_actor::stateful_pointer<watchdog_state> self,
                                       commons_ptr shared);

} // namespace troupe::actors
