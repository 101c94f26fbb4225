#pragma once

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"
#include "runtime/store/ledger.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>

namespace troupe::actors {

/// The books of one memory of a device, which outlive the actor that keeps them.
using ledger_ptr = std::shared_ptr<store::ledger>;

/// Keeps one ledger of a device's.
class memory_state {
public:
  static inline const char* name = "memory";

  explicit memory_state(memory_actor::pointer self) : self_(self) {}

  memory_actor::behavior_type make_behavior(commons_ptr shared, stage_id id, stage_id device,
                                            ledger_ptr books);

private:
  void lease(std::uint64_t ticket, std::size_t bytes);
  [[nodiscard]] lent lend(std::size_t bytes);
  [[nodiscard]] reserved reserve(std::size_t bytes);
  [[nodiscard]] lease_ptr as_lease(block_ptr block) const;
  void grant(std::uint64_t ticket, block_ptr block);
  void grant_all(std::vector<store::ledger::grant> grants);
  void look();
  void wake_later();
  [[nodiscard]] std::size_t in_use() const noexcept;

  memory_actor::pointer self_;
  commons_ptr shared_;
  stage_id id_ = 0;
  stage_id device_ = 0;
  ledger_ptr ledger_;
  bool alarm_ = false;
};

/// Spawn with `sys.spawn(memory, shared, id, device, books)`.
memory_actor::behavior_type memory(memory_actor::stateful_pointer<memory_state> self,
                                   commons_ptr shared, stage_id id, stage_id device,
                                   ledger_ptr books);

} // namespace troupe::actors
