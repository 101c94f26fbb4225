#include "actors/postprocess_actor.hpp"

#include "actors/deliver.hpp"
#include "actors/hand_on.hpp"

namespace troupe::actors {

// An exception (memory, for one) ends the actor; the jobs of that batch are answered when it goes.
postprocess_actor::behavior_type postprocess_state::make_behavior() {
  log_exceptions(self_, name);
  return {
      [](split_atom, const results_ptr& results) { deliver(*results); },
  };
}

postprocess_actor::behavior_type
postprocess(postprocess_actor::stateful_pointer<postprocess_state> self) {
  return self->state.make_behavior();
}

} // namespace troupe::actors
