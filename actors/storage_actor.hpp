#pragma once

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe::actors {

/// Slow work on a thread of its own; several of them share the orders. Holds nothing between
/// orders.
class storage_state {
public:
  static inline const char* name = "storage";

  explicit storage_state(storage_actor::pointer self) : self_(self) {}

  storage_actor::behavior_type make_behavior(commons_ptr shared);

private:
  void load(const load_order& order);
  void plan(const plan_order& order);

  storage_actor::pointer self_;
  commons_ptr shared_;
};

/// Spawn detached with `sys.spawn<caf::detached>(storage, shared)`.
storage_actor::behavior_type storage(storage_actor::stateful_pointer<storage_state> self,
                                     commons_ptr shared);

} // namespace troupe::actors
