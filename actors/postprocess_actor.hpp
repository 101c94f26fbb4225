#pragma once

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe::actors {

/// Holds nothing between batches.
class postprocess_state {
public:
  static inline const char* name = "postprocess";

  explicit postprocess_state(postprocess_actor::pointer self) : self_(self) {}

  postprocess_actor::behavior_type make_behavior();

private:
  postprocess_actor::pointer self_;
};

/// Spawn with `sys.spawn(postprocess)`.
postprocess_actor::behavior_type
postprocess(postprocess_actor::stateful_pointer<postprocess_state> self);

} // namespace troupe::actors
