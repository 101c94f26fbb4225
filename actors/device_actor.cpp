#include "actors/device_actor.hpp"

#include "actors/capturing.hpp"
#include "actors/deliver.hpp"
#include "actors/hand_on.hpp"
#include "actors/long_turn.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>

namespace troupe::actors {

namespace {

constexpr std::size_t max_resting_runs = 64;

} // namespace

device_actor::behavior_type device_state::make_behavior(commons_ptr shared, device_setup setup) {
  shared_ = std::move(shared);
  setup_ = std::move(setup);
  log_exceptions(self_, name);
  auto opened = setup_.on->open_stream(setup_.mode);
  if (!opened)
    throw std::runtime_error(to_string(opened.error()));
  stream_ = std::move(*opened);
  setup_.signs.pulse->clear();
  if (setup_.signs.health->fit())
    tell<supervisor_actor>(*shared_, shared_->supervisor, up_atom_v, setup_.id);
  return {
      [this](run_atom, const batch_ptr& next) {
        pending_.push(next->from, next, next->expected, next->where->terms.share);
        advance();
      },
      [this](granted_atom, memory_kind of, std::uint64_t ticket, const lease_ptr& block,
             const failure& outcome) { granted(of, ticket, block, outcome); },
      [this](planned_atom, std::uint64_t number, std::int64_t took, const program_ptr& program,
             const failure& outcome) { planned(number, took, program, outcome); },
      [this](done_atom, std::uint64_t ticket, const failure& outcome) { done(ticket, outcome); },
      [this](yield_atom, memory_kind of, bool all) { yield(of, all); },
      [this](up_atom, memory_kind of) { ask_again(of); },
      [this](wake_atom) { advance(); },
      [this](probe_atom) { probe(); },
  };
}

// A stream ends with its work: what is under way is not waited for on a thread of the scheduler's.
device_state::~device_state() {
  if (running_.empty() && probe_ == 0)
    return;
  try {
    shared_->offload([held = std::shared_ptr<stream>{std::move(stream_)}] {});
  } catch (const std::exception& thrown) {
    spdlog::warn("a device's stream is waited for: {}", thrown.what());
  }
}

void device_state::advance() {
  const auto tickets = static_cast<std::size_t>(std::max(1, setup_.on->properties().tickets));
  while (running_.size() < tickets) {
    const auto next = pending_.pop([this](const batch_ptr& due) { return may_run(*due); });
    if (!next)
      return;
    attempt(*next, [&] { start(*next); });
  }
}

// Resources come before memory, and all at once: a batch that waits for them holds nothing.
bool device_state::may_run(const batch& next) {
  const auto& needs = next.where->terms.resources;
  if (needs.empty())
    return true;
  auto& claim = claims_[next.id];
  if (!claim)
    claim = std::make_unique<placement::resource_claim>(
        *shared_->resources, needs,
        [shared = shared_, to = setup_.id] { tell<device_actor>(*shared, to, wake_atom_v); });
  return claim->take();
}

void device_state::release(const batch& what, duration took) {
  claims_.erase(what.id);
  pending_.ended(what.from, what.expected, took);
}

// What one batch throws ends that batch: the device has others.
void device_state::attempt(const batch_ptr& next, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    finish(*next, error{errc::resource_exhausted, "the machine has no memory for this batch"});
  } catch (const std::exception& thrown) {
    spdlog::error("device {}: {}", setup_.on->properties().name, thrown.what());
    finish(*next, error{errc::internal, thrown.what()});
  }
}

void device_state::run_planned(const batch_ptr& next, program_ptr program, std::int64_t bucket) {
  auto work = std::make_shared<device_work>(next, program, bucket, setup_.on->properties());
  const auto resting = runs_.find(program.get());
  work->set_run(resting != runs_.end() && resting->second.state ? std::move(resting->second.state)
                                                                : program->make_run());
  const auto ticket = shared_->fresh_number();
  running_.emplace(ticket, work);
  supply(ticket, work);
}

void device_state::done(std::uint64_t ticket, const failure& outcome) {
  if (setup_.signs.pulse->ended(ticket, shared_->clock->now()))
    tell<watchdog_actor>(*shared_, shared_->watchdog, up_atom_v);
  if (ticket == probe_)
    return probed(outcome);
  const auto entry = running_.extract(ticket);
  if (entry.empty())
    return;
  const auto& work = entry.mapped();
  const auto what = work->of();
  // A device may take work before it is through with what came earlier.
  const auto began = std::max(work->started, std::exchange(last_ended_, work->ended));
  const auto took = std::max(work->ended - began, duration{0});
  if (outcome.what && outcome.what->code == errc::unavailable)
    throw std::runtime_error(
        to_string(*outcome.what)); // the device is lost: its supervisor decides
  keep_lease(*work, memory_kind::device);
  rest(*work);
  release(*what, took);
  std::optional<long_turn> copies;
  if (work->bytes(memory_kind::host) > 0)
    copies.emplace(); // outputs are copied: whom this wakes need not wait for that
  advance();          // the device first, the answers meanwhile
  if (outcome.what)
    return report(*what, outcome.what);
  setup_.signs.health->ran();
  what->where->load->record_run(what->shape, work->rows_run(), took, shared_->clock->now());
  what->model->probe->batch_ran(what->rows, took);
  capture_run(*shared_, *what, work->rows_run(), began, took);
  for (const auto& one : what->jobs) {
    one->at.started = began;
    one->at.ended = work->ended;
  }
  report(*what, {}, took);
  batch_results results{what, work->outputs()};
  keep_lease(*work, memory_kind::host);
  if (!needs_postprocess(*what)
      || !tell<postprocess_actor>(*shared_, shared_->postprocess, split_atom_v,
                                  results_ptr{std::make_shared<batch_results>(results)}))
    deliver(results);
}

// The run state is kept for the next batch of its program.
void device_state::rest(device_work& work) {
  const auto& program = work.program();
  const auto& of = work.of()->where->runs;
  const auto known = runs_.find(program.get());
  if (known != runs_.end() && known->second.of->caches(*program)) {
    known->second.state = work.take_run();
    return;
  }
  if (runs_.size() >= max_resting_runs)
    runs_.clear(); // making them again is cheap, finding the oldest is not worth a list
  if (of->caches(*program))
    runs_[program.get()] = {of, program, work.take_run()};
}

// A batch ends that did not run.
void device_state::finish(const batch& what, std::optional<error> failed) {
  release(what, {});
  report(what, std::move(failed));
}

// Where models share the device each may have one batch more here, so that there is something to
// choose from at any time.
void device_state::report(const batch& what, std::optional<error> failed, duration took) {
  const auto tickets =
      std::max(1, setup_.on->properties().tickets) + (pending_.flows() > 1 ? 1 : 0);
  auto outcome =
      std::make_shared<batch_outcome>(batch_outcome{what.id, std::move(failed), took, tickets});
  tell<batcher_actor>(*shared_, what.from, finished_atom_v, outcome_ptr{std::move(outcome)});
}

device_actor::behavior_type device(device_actor::stateful_pointer<device_state> self,
                                   commons_ptr shared, device_setup setup) {
  return self->state.make_behavior(std::move(shared), std::move(setup));
}

} // namespace troupe::actors
