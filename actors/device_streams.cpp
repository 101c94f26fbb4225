// Work on the device's stream, and how long it may be silent.

#include "actors/device_actor.hpp"

#include "actors/answer_once.hpp"
#include "actors/hand_on.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace troupe::actors {

namespace {

// Handing over to the stream's thread and back costs about as much on a machine that is idle.
constexpr std::chrono::microseconds worth_a_thread{30};
// Times what a batch is expected to take that a device is given for it; where nothing is known yet,
// times the least.
constexpr int patience = 10;

failure as_failure(const result<void>& outcome) {
  return {outcome ? std::nullopt : std::optional{outcome.error()}};
}

} // namespace

void device_state::submit(std::uint64_t ticket, const work_ptr& work) {
  auto issue = [work, clock = shared_->clock](stream& on) -> result<void> {
    work->started = clock->now();
    try {
      return work->issue(on);
    } catch (const std::exception& thrown) {
      return fail(errc::internal, "{}", thrown.what());
    }
  };
  const auto& load = *work->of()->where->load;
  const auto expected = load.estimated_run(work->of()->shape, work->rows_run());
  const auto least = setup_.signs.silence;
  watch(ticket, load.measured() ? std::max(least, patience * expected) : patience * least);
  if (auto* here = stream_here_for(expected)) {
    result<void> outcome = fail(errc::internal, "the device lost its work");
    here->submit(std::ref(issue), [&](result<void> ended) { outcome = std::move(ended); });
    work->ended = shared_->clock->now();
    caf::anon_send(self_, done_atom_v, ticket, as_failure(outcome));
    return;
  }
  auto done = answer_once<void>(
      [work, shared = shared_, to = setup_.id, ticket](const result<void>& outcome) {
        work->ended = shared->clock->now();
        tell<device_actor>(*shared, to, done_atom_v, ticket, as_failure(outcome));
      },
      "the device lost its work");
  stream_->submit(std::move(issue), std::move(done));
}

void device_state::watch(std::uint64_t ticket, duration limit) {
  if (setup_.signs.pulse->began(ticket, limit, shared_->clock->now()))
    tell<watchdog_actor>(*shared_, shared_->watchdog, up_atom_v);
}

// A device that was unfit shows with work of nothing that its stream moves.
void device_state::probe() {
  if (setup_.signs.health->fit() || probe_ != 0)
    return;
  probe_ = shared_->fresh_number();
  watch(probe_, setup_.signs.silence);
  stream_->submit([](stream&) -> result<void> { return {}; },
                  answer_once<void>(
                      [shared = shared_, to = setup_.id, ticket = probe_](const auto& outcome) {
                        tell<device_actor>(*shared, to, done_atom_v, ticket, as_failure(outcome));
                      },
                      "the device lost its work"));
}

void device_state::probed(const failure& outcome) {
  probe_ = 0;
  if (outcome.what)
    throw std::runtime_error(to_string(*outcome.what));
  setup_.signs.health->passed_probe();
  tell<supervisor_actor>(*shared_, shared_->supervisor, up_atom_v, setup_.id);
}

// What is short and alone runs here; null for the rest.
stream* device_state::stream_here_for(duration expected) {
  if (!setup_.on->properties().computes_where_called || running_.size() > 1
      || expected > worth_a_thread)
    return nullptr;
  if (!inline_stream_) {
    auto opened = setup_.on->open_stream(stream_mode::inline_);
    if (!opened)
      return nullptr;
    inline_stream_ = std::move(*opened);
  }
  return inline_stream_.get();
}

} // namespace troupe::actors
