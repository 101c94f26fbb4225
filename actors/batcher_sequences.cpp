// Steps of sequences on their way into the queue and out of it: the table says which may run, and
// hears of each what became of it.

#include "actors/batcher_actor.hpp"

#include "actors/answer_over.hpp"
#include "actors/hand_on.hpp"
#include "actors/sequence_request.hpp"

#include <utility>

namespace troupe::actors {

void batcher_state::begin_sequences() {
  const auto& rules = model().settings.sequences;
  if (rules)
    sequences_.emplace(sequence_table::limits{slots_at(model(), self_at_), rules->max_idle,
                                              rules->state_bytes > 0});
}

void batcher_state::enqueue_step(const job_ptr& asked) {
  auto& step = *asked->step;
  asked->queued_at = what_->where->entry;
  auto added = sequences_->add(
      step.id, {asked, step.generation, step.start, step.end, std::move(step.hold)}, now());
  if (!added) {
    asked->queued_at = 0;
    asked->fail_with(added.error().code,
                     fmt::format("model {}: {}", model().name, added.error().text));
    return;
  }
  follow_sequences();
}

// One thing may lead to the next: until nothing follows.
void batcher_state::follow_sequences() {
  if (!sequences_)
    return;
  const auto next = sequences_->expire(now());
  for (;;) {
    auto due = sequences_->take_due();
    auto dropped = sequences_->take_dropped();
    const auto wishes = sequences_->take_wishes();
    if (due.empty() && dropped.empty() && wishes.empty())
      break;
    for (const auto& wish : wishes)
      ask_for_state(wish);
    for (auto& [job, why] : dropped) {
      job->queued_at = 0;
      job->fail_with(why.code, fmt::format("model {}: {}", model().name, why.text),
                     why.retry_after_ms);
    }
    for (auto& [job, state] : due) {
      job->step->state = std::move(state);
      read_states(*job);
      wait(item_of(job, job->at.queued));
    }
  }
  if (next)
    wake_at(*next);
  if (sequences_->empty())
    leave_if_done();
}

// Once for each sequence, from the same books as the blocks of batches: now or not at all, since
// those who have theirs may keep them for long.
void batcher_state::ask_for_state(const sequence_table::memory_wish& wish) {
  auto refuse = [this, wish](error why) {
    sequences_->refuse(wish, std::move(why));
    follow_sequences();
    dispatch();
    leave_if_done();
  };
  const auto memory = shared_->stages->get<memory_actor>(what_->where->memory);
  if (!memory)
    return sequences_->refuse(wish, {errc::unavailable, "no memory at the moment", 100});
  self_
      ->request(memory, caf::infinite, lend_atom_v,
                static_cast<std::uint64_t>(model().settings.sequences->state_bytes))
      .then(
          [this, wish, refuse](const lent& given) {
            if (!given.block)
              return refuse(given.block.error());
            sequences_->lend(wish, *given.block);
            follow_sequences();
            dispatch();
          },
          [refuse](caf::error&) {
            refuse({errc::unavailable, "an actor ended while the sequence began", 100});
          });
}

// A step is over, run or not. One that its client gave up may or may not have run by then: its
// sequence is lost either way, so that nobody has to guess.
void batcher_state::step_over(const job_ptr& which, bool ran) {
  if (!sequences_)
    return;
  sequences_->ended(which->step->id, which->step->generation, ran && !which->cancelled(), now());
}

} // namespace troupe::actors
