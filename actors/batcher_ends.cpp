// What does not come to an answer at first: batches that fail or are lost with their device, and
// requests whose time is over.

#include "actors/batcher_actor.hpp"

#include "actors/answer_over.hpp"
#include "actors/hand_on.hpp"
#include "actors/sequence_request.hpp"
#include "runtime/placement/routing.hpp"

#include <algorithm>
#include <utility>

namespace troupe::actors {

// Members of failed batches run one at a time with nothing beside them: if one of them breaks the
// device again, it takes no other with it. Whether the device is theirs.
bool batcher_state::run_again(time_point at) {
  while (!again_.empty() && in_flight_.empty() && tickets_ > 0) {
    auto next = std::move(again_.front());
    again_.pop_front();
    if (!is_over(*next, at)) {
      send({std::move(next)}, at);
      return true;
    }
    answer_over(*next, at);
  }
  return !again_.empty();
}

void batcher_state::cancel(const job_ptr& unwanted) {
  std::erase(again_, unwanted);
  const auto held = queue_.remove_if([&](const waiting::item& one) { return one.job == unwanted; });
  if (!held.empty())
    step_over(unwanted, false);
  else if (sequences_)
    sequences_->withdraw(unwanted->step->id, unwanted);
  follow_sequences();
  dispatch();
  leave_if_done();
}

void batcher_state::failed(const batch& what, const error& why) {
  std::uint64_t retried = 0;
  for (const auto& one : what.jobs) {
    if (one->answered())
      continue;
    if (one->attempts++ == 0 && model().settings.stateless) {
      again_.push_back(one);
      one->queued_at = what_->where->entry;
      ++retried;
      continue;
    }
    // What the request itself is to blame for keeps its code; anything else is our fault.
    const bool blames_request = why.code == errc::invalid_argument
                                || why.code == errc::unimplemented
                                || why.code == errc::resource_exhausted;
    const bool may_try_again = why.code == errc::unavailable;
    one->fail_with(blames_request || may_try_again ? why.code : errc::internal,
                   fmt::format("model {}: {}{}", model().name, why.text,
                               one->step ? "; its sequence is lost" : ""),
                   why.retry_after_ms);
  }
  model().probe->retried(retried);
}

void batcher_state::device_down() {
  set_tickets(0);
  auto lost = std::exchange(in_flight_, {});
  for (const auto& [id, held] : lost) {
    what_->where->load->batch_ended(held->expected, now());
    failed(*held, {errc::internal, "the device failed while it held the request"});
    for (const auto& one : held->jobs)
      step_over(one, false);
  }
  if (sequences_ && !what_->where->runs->on().properties().host_visible)
    sequences_->lose_all(); // what their states lay in may be gone with it
  follow_sequences();
  if (!what_->where->fit())
    pass_on_all();
  report_depth();
  wake_for_next();
  share_work();
  leave_if_done();
}

// Nobody knows when an unfit device is back: what waits for it is for another one.
void batcher_state::pass_on_all() {
  auto items = queue_.remove_if([](const waiting::item&) { return true; });
  std::sort(items.begin(), items.end(),
            [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
  for (const auto& one : std::exchange(again_, {}))
    items.push_back(item_of(one, one->at.queued));
  pass_on(std::move(items));
  if (sequences_) {
    sequences_->clear(unfit());
    follow_sequences();
  }
}

error batcher_state::unfit() const {
  return {errc::unavailable,
          fmt::format("model {}: the device {} is not fit for work at the moment", model().name,
                      what_->where->health->name()),
          1000};
}

// To the placement that answers first, or to nobody.
void batcher_state::pass_on(std::vector<waiting::item> items) {
  const auto& placements = model().placements;
  std::vector<const placement::load*> loads;
  std::vector<stage_id> others;
  for (const auto& one : placements)
    if (one.fit() && !sequences_ && shared_->stages->holds(one.entry)) {
      loads.push_back(one.load.get());
      others.push_back(one.entry);
    }
  auto given = std::make_shared<handover>();
  for (auto& item : items) {
    auto& asked = *item.job;
    asked.queued_at = 0;
    if (is_over(asked, now()))
      answer_over(asked, now());
    else if (!others.empty() && (!asked.internal || asked.parent)) // a warm-up is for one place
      given->items.push_back(std::move(item));
    else
      asked.answer(tl::unexpected<error>{unfit()});
  }
  if (given->items.empty())
    return;
  const auto& first = *given->items.front().job;
  const auto to = placement::earliest(loads, first.key.hash(), first.rows, now());
  if (!tell<batcher_actor>(*shared_, others[to], taken_atom_v, given))
    for (const auto& item : given->items)
      item.job->fail_with(errc::unavailable, "the model is being replaced or restarted", 100);
}

void batcher_state::drop_what_is_over(time_point at) {
  if (const auto expiry = queue_.next_expiry(); !expiry || *expiry > at)
    return; // what is cancelled is told by `cancel`
  for (auto& gone : queue_.remove_if(
           [&](const auto& held) { return is_over(*held.job, at) || held.leave_by <= at; })) {
    const auto& asked = *gone.job;
    const auto& policy = model().settings.priorities.policy_of(gone.priority);
    if (is_over(asked, at)) {
      answer_over(*gone.job, at);
      step_over(gone.job, false);
    } else if (policy.action == batching::queue_policy::overdue::delay) {
      gone.priority = waiting::last;
      gone.leave_by = time_point::max();
      queue_.push(asked.key, std::move(gone));
    } else {
      model().probe->rejected();
      gone.job->fail_with(errc::unavailable,
                          fmt::format("model {}: still in the queue after {:.1f} ms, the limit",
                                      model().name, in_ms(gone.leave_by - gone.arrived)));
      step_over(gone.job, false);
    }
  }
}

} // namespace troupe::actors
