#pragma once

#include "actors/backoff.hpp"
#include "actors/commons.hpp"
#include "actors/interfaces.hpp"

#include <caf/actor_addr.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace troupe::actors {

/// An actor that is there from the beginning. `spawn` makes it, and makes it again when it dies.
struct child_spec {
  stage_id id = 0;
  std::string name;
  std::function<caf::strong_actor_ptr(caf::actor_system&)> spawn;
  int tickets = 0; ///< of a device; 0: not a device
  /// Called when it is in the table again after a restart, which it is not yet when it begins: for
  /// what has to be said to it or about it then.
  std::function<void()> restarted = {};
  std::shared_ptr<placement::device_health> health = {}; ///< of a device
};

/// Root of the actors: owns the only lasting handles, in the table of stages.
class supervisor_state {
public:
  static inline const char* name = "supervisor";

  explicit supervisor_state(supervisor_actor::pointer self) : self_(self) {}

  supervisor_actor::behavior_type make_behavior(commons_ptr shared, std::vector<child_spec> first);

private:
  struct child {
    child_spec spec;
    stage_id on_device = 0; ///< of a batcher
    caf::actor_addr address;
    backoff pause;
    bool up = false;
    bool takes_batches = false; ///< a device that has said so
    bool unwanted = false;      ///< a batcher or stage that is to finish and leave
  };

  bool start(child& what);
  void ended(const caf::actor_addr& who, const caf::error& why);
  void give_up(child& what, const std::string& why);
  void silent(stage_id id);
  void restart(stage_id id);
  void device_up(stage_id id);
  void tell_batchers(stage_id device, int tickets);
  failure place(const place_order_ptr& order);
  failure host(const stage_order_ptr& order);
  void halt(stage_id id);
  void ask_to_leave(const child& what) const;
  void retire(stage_id id);
  void stop();

  supervisor_actor::pointer self_;
  commons_ptr shared_;
  std::map<stage_id, child> children_; // in the order of their ids: devices before batchers
};

/// Spawn with `sys.spawn(supervisor, shared, children)`. Ends with all its children on an exit
/// message.
supervisor_actor::behavior_type
supervisor(supervisor_actor::stateful_pointer<supervisor_state> self, commons_ptr shared,
           std::vector<child_spec> first);

} // namespace troupe::actors
