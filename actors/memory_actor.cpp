#include "actors/memory_actor.hpp"

#include "actors/hand_on.hpp"

namespace troupe::actors {

memory_actor::behavior_type memory_state::make_behavior(commons_ptr shared, stage_id id,
                                                        stage_id device, ledger_ptr books) {
  shared_ = std::move(shared);
  id_ = id;
  device_ = device;
  ledger_ = std::move(books);
  log_exceptions(self_, name);
  ledger_->forget_waiters(); // the device asks again
  if (in_use() > 0)
    wake_later();
  return {
      [this](lease_atom, std::uint64_t ticket, std::uint64_t bytes) { lease(ticket, bytes); },
      [this](lend_atom, std::uint64_t bytes) { return lend(bytes); },
      [this](giveback_atom, const block_ptr& block) {
        grant_all(ledger_->give_back(block, shared_->clock->now()));
      },
      [this](reserve_atom, std::uint64_t bytes) { return reserve(bytes); },
      [this](release_atom) {
        grant_all(ledger_->audit());
        tell<device_actor>(*shared_, device_, yield_atom_v, ledger_->of(),
                           true); // run states hold weights
      },
      [this](wake_atom) {
        alarm_ = false;
        look();
      },
  };
}

void memory_state::lease(std::uint64_t ticket, std::size_t bytes) {
  auto block = ledger_->lease(ticket, bytes, shared_->clock->now());
  if (!block)
    tell<device_actor>(*shared_, device_, granted_atom_v, ledger_->of(), ticket, lease_ptr{},
                       failure{block.error()});
  else if (*block)
    grant(ticket, std::move(*block));
  else // what the device keeps for later may be what is missing
    tell<device_actor>(*shared_, device_, yield_atom_v, ledger_->of(), true);
  wake_later();
}

lent memory_state::lend(std::size_t bytes) {
  auto block = ledger_->lease_for_long(bytes);
  wake_later();
  if (!block)
    return {propagate(std::move(block))};
  if (*block)
    return {as_lease(std::move(*block))};
  // What the device keeps for later may be what is missing: for whoever tries again.
  tell<device_actor>(*shared_, device_, yield_atom_v, ledger_->of(), true);
  return {tl::unexpected<error>{
      error{errc::resource_exhausted, "the device has no memory for it at the moment", 100}}};
}

reserved memory_state::reserve(std::size_t bytes) {
  auto made = ledger_->reserve(
      bytes, [shared = shared_, to = id_] { tell<memory_actor>(*shared, to, release_atom_v); });
  if (!made && made.error().retry_after_ms > 0)
    tell<device_actor>(*shared_, device_, yield_atom_v, ledger_->of(),
                       true); // what it keeps is in the way
  return {std::move(made)};
}

// The lease finds its way back by id: a handle in it would outlive a restart.
lease_ptr memory_state::as_lease(block_ptr block) const {
  auto give_back = [shared = shared_, to = id_](block_ptr returned) {
    tell<memory_actor>(*shared, to, giveback_atom_v, std::move(returned));
  };
  return std::make_shared<store::lease>(std::move(block), std::move(give_back));
}

void memory_state::grant(std::uint64_t ticket, block_ptr block) {
  tell<device_actor>(*shared_, device_, granted_atom_v, ledger_->of(), ticket,
                     as_lease(std::move(block)), failure{});
}

void memory_state::grant_all(std::vector<store::ledger::grant> grants) {
  for (auto& one : grants) {
    if (one.block)
      grant(one.waiter, std::move(one.block));
    else
      tell<device_actor>(
          *shared_, device_, granted_atom_v, ledger_->of(), one.waiter, lease_ptr{},
          failure{error{errc::resource_exhausted,
                        fmt::format("there is no {} left", to_string(ledger_->of()))}});
  }
}

// Two looks without work in between bring everything back to the device; then the alarm rests too.
void memory_state::look() {
  grant_all(ledger_->audit());
  ledger_->expire(shared_->clock->now());
  if (ledger_->leased_bytes() > 0)
    tell<device_actor>(*shared_, device_, yield_atom_v, ledger_->of(), false);
  if (in_use() > 0)
    wake_later();
}

std::size_t memory_state::in_use() const noexcept {
  return ledger_->leased_bytes() + ledger_->free_bytes();
}

void memory_state::wake_later() {
  if (std::exchange(alarm_, true))
    return;
  self_->delayed_send(self_, ledger_->idle_expiry(), wake_atom_v);
}

memory_actor::behavior_type memory(memory_actor::stateful_pointer<memory_state> self,
                                   commons_ptr shared, stage_id id, stage_id device,
                                   ledger_ptr books) {
  return self->state.make_behavior(std::move(shared), id, device, std::move(books));
}

} // namespace troupe::actors
