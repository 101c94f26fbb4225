#include "actors/batcher_actor.hpp"

#include "actors/answer_over.hpp"
#include "actors/capturing.hpp"
#include "actors/hand_on.hpp"
#include "actors/sequence_request.hpp"
#include "actors/split.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

// Waking the device up takes some tens of microseconds: behind a run shorter than this the next
// batch is handed over before the device is idle.
constexpr std::chrono::microseconds short_run{200};

constexpr std::chrono::seconds linger{1};

} // namespace

batcher_actor::behavior_type batcher_state::make_behavior(commons_ptr shared, place_order_ptr what,
                                                          int tickets) {
  shared_ = std::move(shared);
  what_ = std::move(what);
  const auto& placements = model().placements;
  while (&placements[self_at_] != what_->where)
    ++self_at_;
  what_->where->load->restart(now()); // what one before this one held is gone
  set_tickets(tickets);
  const auto& batching = model().settings.batching;
  if (batching.adapts && batching.objective > duration{0})
    size_.emplace(batching.objective, batching.max_rows);
  begin_sequences();
  log_exceptions(self_, name);
  return {
      [this](submit_atom, const job_ptr& asked) { guarded(name, asked, [&] { enqueue(asked); }); },
      [this](cancel_atom, const job_ptr& unwanted) { cancel(unwanted); },
      [this](finished_atom, const outcome_ptr& outcome) { finished(*outcome); },
      [this](up_atom, int count) {
        set_tickets(count);
        dispatch();
      },
      [this](down_atom) { device_down(); },
      [this](retire_atom) { retire(); },
      [this](offer_atom) { share_work(); },
      [this](relieve_atom, stage_id idle, std::int64_t rows) { relieve(idle, rows); },
      [this](taken_atom, const handover_ptr& given) { taken(*given); },
      [this](halt_atom) { end(); },
      [this](wake_atom) {
        alarm_.rang(now());
        follow_sequences();
        dispatch();
        leave_if_done();
      },
  };
}

void batcher_state::enqueue(const job_ptr& asked) {
  asked->on_way = {};
  const auto at = now();
  capture_request(*shared_, *asked);
  if (is_over(*asked, at)) {
    answer_over(*asked, at);
    if (sequences_)
      sequences_->abandon(asked->step->id, asked->step->generation);
    return follow_sequences();
  }
  if (leaving_)
    return send_back(*shared_, asked);
  auto next = item_of(asked, at);
  if (auto room = room_for(*asked, next); !room) {
    model().probe->rejected();
    asked->answer(propagate(std::move(room)));
    return;
  }
  asked->at.queued = at;
  const auto most = model().io.max_batch_size;
  if (!what_->where->fit()) {
    pass_on({item_of(asked, at)});
  } else if (sequences_) {
    enqueue_step(asked);
  } else if (most > 0 && asked->rows > most) {
    for (auto& part : split(shared_, asked, most)) {
      part->at.queued = at;
      wait(item_of(part, at));
    }
  } else {
    wait(std::move(next));
  }
  dispatch(at);
}

batcher_state::waiting::item batcher_state::item_of(const job_ptr& asked, time_point at) const {
  const auto& rules = model().settings.priorities;
  const auto level = rules.level_of(asked->request.priority);
  waiting::item made{asked, asked->rows, level, asked->deadline, at};
  const auto& policy = rules.policy_of(level);
  if (policy.timeout > duration{0})
    made.leave_by = at + policy.timeout;
  if (policy.allow_override && asked->request.deadline)
    made.leave_by = std::min(made.leave_by, *asked->request.deadline);
  return made;
}

// Who cancels it looks at `queued_at` after having said so: one of the two sees the other.
void batcher_state::wait(waiting::item next) {
  const auto asked = next.job;
  asked->queued_at = what_->where->entry;
  if (asked->over()) {
    asked->queued_at = 0;
    answer_over(*asked, now());
    return step_over(asked, false);
  }
  arriving_.came(next.rows);
  queue_.push(asked->key, std::move(next));
}

// A request that cannot be served is told so while its client can still do something else.
result<void> batcher_state::room_for(const job::impl& asked, const waiting::item& next) const {
  const auto refuse = [&](errc code, std::string text) -> result<void> {
    const auto clears_in = expected_run(asked.key, queue_.rows());
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(clears_in).count();
    return tl::unexpected<error>{
        error{code, fmt::format("model {}: {}", model().name, text),
              static_cast<std::uint32_t>(std::clamp<std::int64_t>(wait, 1, 10'000))}};
  };
  const auto limit = model().settings.max_queue_rows;
  auto waiting_rows = rows_waiting();
  if (sequences_ && !(asked.step->start && sequences_->full()))
    waiting_rows -= static_cast<std::int64_t>(sequences_->without_slot()); // they wait for its end
  if (waiting_rows > 0 && waiting_rows + asked.rows > limit)
    return refuse(
        errc::resource_exhausted,
        fmt::format("the queue is full: {} rows wait, the limit is {}", waiting_rows, limit));
  const auto of_level = model().settings.priorities.policy_of(next.priority).max_requests;
  if (of_level > 0 && queue_.count(next.priority) >= static_cast<std::size_t>(of_level))
    return refuse(errc::resource_exhausted,
                  fmt::format("the queue is full: {} requests of priority {} wait, the limit is {}",
                              queue_.count(next.priority), next.priority, of_level));
  const auto& load = *what_->where->load;
  const auto shape = asked.key.hash();
  if (!load.measured())
    return {};
  if (const auto at = expected_answer(asked, next.arrived); misses_objective(asked, at))
    return refuse(errc::resource_exhausted,
                  fmt::format("the answer is expected in {:.1f} ms, the objective is {:.1f} ms",
                              in_ms(at - next.arrived),
                              in_ms(model().settings.batching.objective)));
  const auto behind_all = load.estimated_completion_here(shape, asked.rows, next.arrived);
  if (behind_all <= asked.deadline)
    return {};
  // Not behind all that waits; perhaps behind what goes before it.
  const auto answered =
      load.estimated_completion_after(queue_.rows_before(next), shape, asked.rows, next.arrived);
  if (answered <= asked.deadline)
    return {};
  return refuse(errc::deadline_exceeded,
                fmt::format("the deadline cannot be kept: the answer is expected in {:.1f} ms, "
                            "{:.1f} ms are left",
                            in_ms(answered - next.arrived), in_ms(asked.deadline - next.arrived)));
}

void batcher_state::dispatch(time_point at) {
  drop_what_is_over(at);
  while (!run_again(at)) {
    auto taken = queue_.take(
        model().settings.batching, device(), at,
        [this, at](const auto& key) { return full_at(key, at); },
        [this](const auto& key, std::int64_t rows) {
          return worth_running(key, rows, queue_.rows());
        });
    if (taken.empty())
      break;
    std::vector<job_ptr> jobs;
    jobs.reserve(taken.size());
    for (auto& item : taken) {
      if (is_over(*item.job, at)) {
        answer_over(*item.job, at);
        step_over(item.job, false);
      } else {
        jobs.push_back(std::move(item.job));
      }
    }
    if (!jobs.empty())
      send(std::move(jobs), at);
    follow_sequences();
  }
  report_depth();
  wake_for_next();
  share_work();
}

// Also while the device is busy or down: what waits may have to go before it is free.
void batcher_state::wake_for_next() {
  auto next = queue_.next_close(model().settings.batching, device());
  if (const auto expiry = queue_.next_expiry(); expiry && (!next || *expiry < *next))
    next = expiry;
  if (next)
    wake_at(*next);
}

void batcher_state::send(std::vector<job_ptr> jobs, time_point at) {
  auto made = std::make_shared<batch>();
  made->id = shared_->fresh_number();
  made->from = what_->where->entry;
  made->model = what_->model;
  made->where = what_->where;
  made->jobs = std::move(jobs);
  for (const auto& one : made->jobs) {
    made->rows += one->rows;
    one->queued_at = 0;
    one->at.input = at;
  }
  made->shape = made->jobs.front()->key.hash();
  arriving_.departed(at);
  made->expected = what_->where->load->batch_started(made->shape, padded(made->rows), at);
  in_flight_.emplace(made->id, made);
  if (!tell<device_actor>(*shared_, what_->where->device, run_atom_v, batch_ptr{made}))
    device_down(); // its supervisor says so later, too: then nothing is left to do
}

void batcher_state::finished(const batch_outcome& outcome) {
  const auto held = in_flight_.extract(outcome.id);
  if (held.empty())
    return; // of a device that was given up, or from before a restart of this actor
  const auto rows = held.mapped()->rows;
  what_->where->load->batch_ended(held.mapped()->expected, now());
  if (tickets_ > 0 && outcome.tickets > 0)
    set_tickets(outcome.tickets);
  if (outcome.failed && outcome.failed->code == errc::resource_exhausted && rows > 1)
    memory_rows_ = std::max<std::int64_t>(1, rows / 2);
  else if (!outcome.failed && memory_rows_ > 0 && rows >= memory_rows_)
    ++memory_rows_; // somebody else may have had it then
  if (outcome.failed)
    failed(*held.mapped(), *outcome.failed);
  else if (size_)
    size_->ran(rows, outcome.took);
  for (const auto& one : held.mapped()->jobs)
    step_over(one, !outcome.failed);
  follow_sequences();
  dispatch();
  leave_if_done();
}

// One alarm for the whole queue, never one per job. If it comes too early, it only looks again.
void batcher_state::wake_at(time_point at) {
  if (const auto in = alarm_.set(at, now()))
    self_->delayed_send(self_, *in, wake_atom_v);
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
  if (!lingered_ || !queue_.empty() || !again_.empty() || !in_flight_.empty()
      || (sequences_ && !sequences_->empty()))
    return;
  if (!std::exchange(leaving_, true))
    tell<supervisor_actor>(*shared_, shared_->supervisor, retire_atom_v, what_->where->entry);
}

// What was in the mailbox before is served or sent back by now.
void batcher_state::end() {
  self_->quit();
}

std::int64_t batcher_state::rows_waiting() const {
  return queue_.rows() + (sequences_ ? static_cast<std::int64_t>(sequences_->waiting()) : 0);
}

void batcher_state::report_depth() {
  const auto& load = what_->where->load;
  load->set_queued(rows_waiting(), queue_.work([&](const auto& key, std::int64_t rows) {
    return expected_run(key, rows);
  }));
  std::int64_t rows_of_all = 0;
  for (const auto& one : model().placements)
    rows_of_all += one.load->queued_rows();
  model().probe->queue_depth(rows_of_all);
}

void batcher_state::set_tickets(int count) {
  const auto instances = what_->where->terms.instances;
  tickets_ = instances > 0 ? std::min(instances, count) : count;
  // On the device a batch could overtake another one that waits for its plan.
  if (model().settings.batching.preserve_ordering)
    tickets_ = std::min(tickets_, 1);
  what_->where->load->set_up(count > 0);
}

batching::device_view batcher_state::device() const {
  batching::device_view view{static_cast<int>(in_flight_.size()), tickets_, false};
  if (!in_flight_.empty()) {
    duration running{0};
    for (const auto& [id, held] : in_flight_)
      running += held->expected;
    view.running_is_short = running <= short_run;
  }
  return view;
}

batcher_actor::behavior_type batcher(batcher_actor::stateful_pointer<batcher_state> self,
                                     commons_ptr shared, place_order_ptr what, int tickets) {
  return self->state.make_behavior(std::move(shared), std::move(what), tickets);
}

} // namespace troupe::actors
