#include "actors/ingress_actor.hpp"

#include "actors/hand_on.hpp"

namespace troupe::actors {

ingress_actor::behavior_type
ingress_state::make_behavior(std::unique_ptr<protocol::listener> owned) {
  listener_ = std::move(owned);
  log_exceptions(self_, name);
  return {
      [this](begin_atom) -> started { return {listener_->start()}; },
      [this](halt_atom) { listener_->stop_accepting(); },
      [this](drain_atom, std::int64_t milliseconds) {
        return listener_->drain(std::chrono::milliseconds{milliseconds});
      },
  };
}

ingress_actor::behavior_type ingress(ingress_actor::stateful_pointer<ingress_state> self,
                                     std::shared_ptr<std::unique_ptr<protocol::listener>> owned) {
  return self->state.make_behavior(std::move(*owned));
}

} // namespace troupe::actors
