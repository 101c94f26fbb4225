#include "actors/watchdog_actor.hpp"

#include "actors/hand_on.hpp"

#include <algorithm>

namespace troupe::actors {

watchdog_actor::behavior_type watchdog_state::make_behavior(commons_ptr shared) {
  shared_ = std::move(shared);
  log_exceptions(self_, name);
  look(); // a restarted watchdog finds those that entered meanwhile
  return {
      [this](cancel_atom, const job_ptr& unwanted) { cancel(unwanted); },
      [this](up_atom) { look(); },
      [this](wake_atom) {
        alarm_.rang(shared_->clock->now());
        look();
      },
  };
}

void watchdog_state::look() {
  std::optional<time_point> next;
  for (const auto& late : shared_->live->expired(shared_->clock->now(), next)) {
    late->fail_with(errc::deadline_exceeded, "the deadline of the request is over");
    cancel(late);
  }
  for (const auto& one : shared_->signs) {
    const auto due = one.pulse->due();
    if (due && *due <= shared_->clock->now()) {
      one.pulse->clear();
      tell<supervisor_actor>(*shared_, shared_->supervisor, silent_atom_v, one.id);
    } else if (due) {
      next = next ? std::min(*next, *due) : *due;
    }
  }
  if (next)
    wake_at(*next);
}

void watchdog_state::cancel(const job_ptr& unwanted) {
  unwanted->cancel();
  unwanted->fail_with(errc::cancelled, "the request was cancelled");
  if (const auto batcher = unwanted->queued_at.load())
    tell<batcher_actor>(*shared_, batcher, cancel_atom_v, unwanted);
  if (unwanted->has_children())
    for (const auto& part : shared_->live->children_of(*unwanted))
      cancel(part);
}

void watchdog_state::wake_at(time_point at) {
  if (const auto in = alarm_.set(at, shared_->clock->now()))
    self_->delayed_send(self_, *in, wake_atom_v);
}

watchdog_actor::behavior_type watchdog(watchdog_actor::stateful_pointer<watchdog_state> self,
                                       commons_ptr shared) {
  return self->state.make_behavior(std::move(shared));
}

} // namespace troupe::actors
