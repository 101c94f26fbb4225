#include "actors/batcher_actor.hpp"

#include "actors/hand_on.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

// Waking the device up takes some tens of microseconds: behind a run shorter than this the next
// batch is handed over before the device is idle.
constexpr std::chrono::microseconds short_run{200};

constexpr std::chrono::seconds linger{1};

bool is_over(const job::impl& asked, time_point now) noexcept {
  return asked.over() || now >= asked.deadline;
}

void answer_over(job::impl& asked, time_point now) {
  if (now >= asked.deadline)
    asked.fail_with(errc::deadline_exceeded, "the deadline of the request is over");
  else
    asked.fail_with(errc::cancelled, "the request was cancelled");
}

} // namespace

batcher_actor::behavior_type batcher_state::make_behavior(commons_ptr shared, place_order_ptr what,
                                                          int tickets) {
  shared_ = std::move(shared);
  what_ = std::move(what);
  tickets_ = tickets;
  what_->where->load->restart(); // what one before this one held is gone
  log_exceptions(self_, name);
  return {
      [this](submit_atom, const job_ptr& asked) { guarded(name, asked, [&] { enqueue(asked); }); },
      [this](cancel_atom, const job_ptr& unwanted) {
        queue_.remove_if([&](const waiting::item& held) { return held.job == unwanted; });
        report_depth();
        dispatch();
        leave_if_done();
      },
      [this](finished_atom, const outcome_ptr& outcome) { finished(*outcome); },
      [this](up_atom, int count) {
        tickets_ = count;
        dispatch();
      },
      [this](down_atom) { device_down(); },
      [this](retire_atom) { retire(); },
      [this](wake_atom) {
        alarm_.reset();
        dispatch();
        leave_if_done();
      },
  };
}

void batcher_state::enqueue(const job_ptr& asked) {
  if (is_over(*asked, now()))
    return answer_over(*asked, now());
  const auto limit = model().settings.max_queue_rows;
  if (!queue_.empty() && queue_.rows() + asked->rows > limit) {
    model().probe->rejected();
    const auto clears_in = what_->where->load->estimated_run(queue_.rows());
    asked->fail_with(
        errc::resource_exhausted,
        fmt::format("model {}: the queue is full: {} rows wait, the limit is {}", model().name,
                    queue_.rows(), limit),
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(clears_in).count(), 1, 10'000)));
    return;
  }
  asked->at.queued = now();
  asked->queued_at = what_->where->entry;
  queue_.push(asked->key,
              {asked, asked->rows, asked->request.priority ? asked->request.priority : 100,
               asked->deadline, asked->at.queued});
  report_depth();
  dispatch();
}

void batcher_state::dispatch() {
  drop_what_is_over();
  // Members of failed batches run one at a time with nothing beside them: if one of them breaks the
  // device again, it takes no other with it.
  while (!again_.empty()) {
    if (!in_flight_.empty() || tickets_ == 0)
      return;
    auto next = std::move(again_.front());
    again_.pop_front();
    if (is_over(*next, now()))
      answer_over(*next, now());
    else
      return send({std::move(next)});
  }
  for (;;) {
    auto taken = queue_.take(model().settings.batching, device(), now());
    if (taken.empty())
      break;
    std::vector<job_ptr> jobs;
    jobs.reserve(taken.size());
    for (auto& item : taken)
      jobs.push_back(std::move(item.job));
    send(std::move(jobs));
  }
  auto next = queue_.next_close(model().settings.batching, device());
  if (const auto expiry = queue_.next_expiry(); expiry && (!next || *expiry < *next))
    next = expiry;
  if (next)
    wake_at(*next);
}

void batcher_state::send(std::vector<job_ptr> jobs) {
  auto made = std::make_shared<batch>();
  made->id = shared_->fresh_number();
  made->from = what_->where->entry;
  made->model = what_->model;
  made->where = what_->where;
  made->jobs = std::move(jobs);
  for (const auto& one : made->jobs) {
    made->rows += one->rows;
    one->queued_at = 0;
    one->at.input = now();
  }
  report_depth();
  what_->where->load->batch_started(made->rows, now());
  in_flight_.emplace(made->id, made);
  if (!tell<device_actor>(*shared_, what_->where->device, run_atom_v, batch_ptr{made}))
    device_down(); // its supervisor says so later, too: then nothing is left to do
}

void batcher_state::finished(const batch_outcome& outcome) {
  const auto held = in_flight_.extract(outcome.id);
  if (held.empty())
    return; // of a device that was given up, or from before a restart of this actor
  what_->where->load->batch_ended(held.mapped()->rows);
  if (outcome.failed)
    failed(*held.mapped(), *outcome.failed);
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
  tickets_ = 0;
  auto lost = std::exchange(in_flight_, {});
  for (const auto& [id, held] : lost) {
    what_->where->load->batch_ended(held->rows);
    failed(*held, {errc::internal, "the device failed while it held the request"});
  }
  leave_if_done();
}

void batcher_state::drop_what_is_over() {
  const auto at = now();
  if (const auto expiry = queue_.next_expiry(); !expiry || *expiry > at)
    return; // what is cancelled is told by `cancel`
  for (const auto& gone :
       queue_.remove_if([&](const auto& held) { return is_over(*held.job, at); }))
    answer_over(*gone.job, at);
  report_depth();
}

// One alarm for the whole queue, never one per job: a timer cannot be taken back, and keeps the
// actor alive until it is due. An alarm that comes too early only looks again.
void batcher_state::wake_at(time_point at) {
  if (alarm_ && *alarm_ <= at)
    return;
  alarm_ = at;
  self_->delayed_send(self_, std::max(at - now(), duration::zero()), wake_atom_v);
}

// The router forgets this actor at about the same time: what it sent before, by whatever way, is
// still served.
void batcher_state::retire() {
  if (std::exchange(retiring_, true))
    lingered_ = true;
  else
    self_->delayed_send(self_, linger, retire_atom_v);
  leave_if_done();
}

void batcher_state::leave_if_done() {
  if (!lingered_ || !queue_.empty() || !again_.empty() || !in_flight_.empty())
    return;
  tell<catalog_actor>(*shared_, shared_->catalog, retire_atom_v, what_->where->entry);
  tell<supervisor_actor>(*shared_, shared_->supervisor, retire_atom_v, what_->where->entry);
  self_->quit();
}

void batcher_state::report_depth() {
  what_->where->load->set_queued(queue_.rows());
  model().probe->queue_depth(queue_.rows());
}

batching::device_view batcher_state::device() const {
  batching::device_view view{static_cast<int>(in_flight_.size()), tickets_, false};
  if (!in_flight_.empty()) {
    std::int64_t rows = 0;
    for (const auto& [id, held] : in_flight_)
      rows += held->rows;
    view.running_is_short = what_->where->load->estimated_run(rows) <= short_run;
  }
  return view;
}

batcher_actor::behavior_type batcher(batcher_actor::stateful_pointer<batcher_state> self,
                                     commons_ptr shared, place_order_ptr what, int tickets) {
  return self->state.make_behavior(std::move(shared), std::move(what), tickets);
}

} // namespace troupe::actors
