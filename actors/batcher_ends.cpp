// What does not come to an answer at first: batches that fail or are lost with their device, and
// requests whose time is over.

#include "actors/batcher_actor.hpp"

#include "actors/answer_over.hpp"
#include "actors/hand_on.hpp"

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
                   fmt::format("model {}: {}", model().name, why.text), why.retry_after_ms);
  }
  model().probe->retried(retried);
}

void batcher_state::device_down() {
  set_tickets(0);
  auto lost = std::exchange(in_flight_, {});
  for (const auto& [id, held] : lost) {
    what_->where->load->batch_ended(held->expected, now());
    failed(*held, {errc::internal, "the device failed while it held the request"});
  }
  wake_for_next();
  share_work();
  leave_if_done();
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
    } else if (policy.action == batching::queue_policy::overdue::delay) {
      gone.priority = waiting::last;
      gone.leave_by = time_point::max();
      queue_.push(asked.key, std::move(gone));
    } else {
      model().probe->rejected();
      gone.job->fail_with(errc::unavailable,
                          fmt::format("model {}: still in the queue after {:.1f} ms, the limit",
                                      model().name, in_ms(gone.leave_by - gone.arrived)));
    }
  }
}

} // namespace troupe::actors
