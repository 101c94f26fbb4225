#pragma once

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe::actors {

/// Holds nothing between jobs.
class preprocess_state {
public:
  static inline const char* name = "preprocess";

  explicit preprocess_state(preprocess_actor::pointer self) : self_(self) {}

  preprocess_actor::behavior_type make_behavior(commons_ptr shared);

private:
  preprocess_actor::pointer self_;
  commons_ptr shared_;
};

/// Spawn with `sys.spawn(preprocess, shared)`.
preprocess_actor::behavior_type
preprocess(preprocess_actor::stateful_pointer<preprocess_state> self, commons_ptr shared);

} // namespace troupe::actors
