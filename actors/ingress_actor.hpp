#pragma once

#include "actors/interfaces.hpp"
#include "protocol/listener.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe::actors {

/// Owns one listener. The listener's own threads accept, parse and answer; the actor steers.
class ingress_state {
public:
  static inline const char* name = "ingress";

  explicit ingress_state(ingress_actor::pointer self) : self_(self) {}

  ingress_actor::behavior_type make_behavior(std::unique_ptr<protocol::listener> owned);

private:
  ingress_actor::pointer self_;
  std::unique_ptr<protocol::listener> listener_;
};

/// Spawn detached with `sys.spawn<caf::detached>(ingress, owned)`: draining blocks.
ingress_actor::behavior_type ingress(ingress_actor::stateful_pointer<ingress_state> self,
                                     std::shared_ptr<std::unique_ptr<protocol::listener>> owned);

} // namespace troupe::actors
