#include "actors/preprocess_actor.hpp"

#include "actors/complete_inputs.hpp"
#include "actors/hand_on.hpp"

namespace troupe::actors {

preprocess_actor::behavior_type preprocess_state::make_behavior(commons_ptr shared) {
  shared_ = std::move(shared);
  log_exceptions(self_, name);
  return {
      [this](submit_atom, const job_ptr& asked) {
        guarded(name, asked, [&] {
          if (auto ok = complete_inputs(*asked); !ok)
            asked->answer(propagate(std::move(ok)));
          else
            hand_on(*shared_, asked->where->entry, asked);
        });
      },
  };
}

preprocess_actor::behavior_type
preprocess(preprocess_actor::stateful_pointer<preprocess_state> self, commons_ptr shared) {
  return self->state.make_behavior(std::move(shared));
}

} // namespace troupe::actors
