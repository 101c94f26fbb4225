#pragma once

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"
#include "runtime/store/ledger.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>

namespace troupe::actors {

/// Owns one device's ledger.
class memory_state {
public:
  static inline const char* name = "memory";

  explicit memory_state(memory_actor::pointer self) : self_(self) {}

  memory_actor::behavior_type make_behavior(commons_ptr shared, std::shared_ptr<troupe::device> on,
                                            stage_id id, stage_id device,
                                            store::ledger::limits limits);

private:
  void lease(std::uint64_t ticket, std::size_t bytes);
  void grant(std::uint64_t ticket, block_ptr block);
  void grant_all(std::vector<store::ledger::grant> grants);
  void look();
  void wake_later();

  memory_actor::pointer self_;
  commons_ptr shared_;
  std::shared_ptr<troupe::device> on_;
  stage_id id_ = 0;
  stage_id device_ = 0;
  duration idle_expiry_{};
  std::unique_ptr<store::ledger> ledger_;
  bool alarm_ = false;
};

/// Spawn with `sys.spawn(memory, shared, on, id, device, limits)`.
memory_actor::behavior_type memory(memory_actor::stateful_pointer<memory_state> self,
                                   commons_ptr shared, std::shared_ptr<troupe::device> on,
                                   stage_id id, stage_id device, store::ledger::limits limits);

} // namespace troupe::actors
