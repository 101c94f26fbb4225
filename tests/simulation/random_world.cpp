#include "tests/simulation/random_world.hpp"

#include "tests/actors/composing.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <ostream>

namespace troupe::test {

namespace {

constexpr std::size_t weight_bytes = 4096;
constexpr std::size_t block_bytes = 4096; // of most batches
constexpr std::int64_t most_rows = 17;    // of a request
const error broken{errc::internal, "broken on purpose"};
const error gone{errc::unavailable, "the device is gone"};

} // namespace

random_world::random_world(std::uint64_t seed, std::ostream* trace) : dice_(seed), trace_(trace) {}

std::int64_t random_world::below(std::int64_t bound) {
  return static_cast<std::int64_t>(dice_() % static_cast<std::uint64_t>(bound));
}

void random_world::note(std::string_view what) {
  using milliseconds = std::chrono::duration<double, std::milli>;
  if (trace_)
    *trace_ << fmt::format("{:9.3f} ms  {}\n",
                           milliseconds(clock->now() - time_point{} - 1h).count(), what);
}

void random_world::run() {
  furnish();
  const auto steps = 20 + below(180);
  for (std::int64_t i = 0; i < steps; ++i) {
    do_something();
    check_bounds();
  }
  come_to_rest();
  check_answers();
  check_recovery();
  check_order();
  check_waiting();
  check_end();
}

void random_world::furnish() {
  for (auto more_devices = below(3); more_devices > 0; --more_devices) {
    lists_.push_back(add_device());
    devices_.push_back(more.back());
  }
  for (const auto& on : devices_)
    on->about().tickets = static_cast<int>(1 + below(2));
  for (const auto& on : devices_)
    on->about().host_visible = chance(60);
  parts.with.max_requests = static_cast<std::size_t>(one_of({8, 64, 4096}));
  budget_ = weight_bytes * static_cast<std::size_t>(one_of({4, 8, 4096})); // versions and blocks
  parts.with.device_memory_bytes = budget_;
  pinned_budget_ = block_bytes * static_cast<std::size_t>(one_of({1, 2, 4096}));
  parts.with.pinned_memory_bytes = pinned_budget_;
  planned_up_to = one_of({0, 4, 256});
  if (chance(50)) {
    priorities.levels = 3;
    priorities.by_level[2].timeout = 40ms;
    priorities.by_level[3].timeout = 40ms;
    priorities.by_level[3].action = batching::queue_policy::overdue::delay;
  }
  spec_.policy = *batching::preset(one_of({"auto", "latency", "throughput"}));
  if (spec_.policy.adapts && chance(50))
    spec_.policy.objective = 1ms * (10 + below(200));
  spec_.policy.preserve_ordering = chance(30);
  spec_.max_batch = one_of({1, 4, 16, 256});
  spec_.queue_rows = one_of({4, 32, 4096});
  spec_.cost = 1ms * below(20);
  if (chance(25)) {
    spec_.sequences =
        sum_rules(static_cast<std::size_t>(one_of({1, 3, 64})), 1ms * one_of({50, 1000, 5000}));
    spec_.max_batch = std::min<std::int64_t>(spec_.max_batch, 64);
  } else if (chance(30))
    spec_.padding = {{{"n", {{0, 1}}, {{0, 1, 1}}, {4}, {}}}, {0}};
  if (chance(30)) {
    needs_resource_ = true;
    spec_.terms.assign(devices_.size(), {0, 1, {{"r", 0, 1}}});
  }
  falls_silent_ = chance(30);
  parts.with.device_silence = falls_silent_ ? 1s : 3600s;
  boot();
  const auto loaded = load_next();
  scheduler.run();
  BOOST_REQUIRE_MESSAGE(*loaded, "the model is loaded when nothing is wrong");
  if (!spec_.sequences && chance(40))
    BOOST_REQUIRE_MESSAGE(compose(), "so is a pipeline");
}

bool random_world::compose() {
  auto asked = std::make_shared<load_request>();
  asked->name = "p";
  asked->load = pipeline_of(twice_through_m);
  asked->done = [this](const result<void>& outcome) { composed_ = outcome.has_value(); };
  tell<catalog_actor>(*shared, shared->catalog, load_atom_v, load_request_ptr{asked});
  scheduler.run();
  return composed_;
}

// A further version in the place of the one before.
std::shared_ptr<bool> random_world::load_next() {
  auto succeeded = std::make_shared<bool>(false);
  spec_.versions = {std::to_string(++versions_)};
  order(spec_, [this, succeeded](const result<void>& outcome) {
    note(outcome ? "it is loaded" : "it is not loaded: " + outcome.error().text);
    *succeeded = outcome.has_value();
  });
  return succeeded;
}

void random_world::do_something() {
  const auto what = below(100);
  if (what < 40)
    ask(false);
  else if (what < 47)
    cancel_one();
  else if (what < 70)
    work_a_little();
  else if (what < 80) {
    const auto time = 1ms * one_of({0, 1, 10, 100, 1000});
    note(fmt::format("{} pass", time));
    scheduler.advance_time(time);
  } else if (what < 86)
    kill_somebody();
  else if (what < 90)
    change_models();
  deliver_messages(chance(30) ? 10'000 : below(12));
}

// Any actor that has something to do may be next; what one actor says to another keeps its order.
void random_world::deliver_messages(std::int64_t count) {
  while (count-- > 0 && scheduler.has_job()) {
    auto& jobs = scheduler.jobs;
    const auto next = jobs.begin() + below(static_cast<std::int64_t>(jobs.size()));
    std::rotate(jobs.begin(), next, next + 1);
    scheduler.run_once();
  }
}

void random_world::ask(bool harmless, std::int64_t rows, std::uint32_t priority) {
  request made{
      {}, fmt::format("r{}", asked_.size()), rows, static_cast<float>(asked_.size()), false};
  if (shared->budget->requests() >= parts.with.max_requests)
    return note(made.name + " is not admitted");
  auto left = duration{60s};
  if (!harmless) {
    made.rows = one_of({1, 1, 1, 2, 5, static_cast<int>(most_rows)});
    made.value = chance(3) ? identity_run::poison : made.value;
    left = 1ms * one_of({1, 20, 200, 2000, 60'000, 60'000});
    made.hurried = left < 60s;
  }
  note(fmt::format("{} asks with {} rows, {} left", made.name, made.rows,
                   std::chrono::duration_cast<std::chrono::milliseconds>(left)));
  if (!harmless)
    priority = static_cast<std::uint32_t>(below(4)); // some may not wait for long
  if (spec_.sequences)
    made.rows = 1;
  const auto job = make(made.name, made.rows, made.value, left, priority);
  if (spec_.sequences)
    say_step(made, job->request, harmless);
  made.held = job;
  asked_.push_back(std::move(made));
  if (composed_ && chance(30)) {
    note("    of the pipeline");
    job->request.model_name = "p";
    job->request.inputs[0].name = "in";
  }
  hand_on(*shared, shared->router, job);
}

// Clients that do not wait for answers and sometimes forget to begin.
void random_world::say_step(request& made, inference_request& asked, bool harmless) {
  const auto id = harmless ? 1000 + starts_ : 1 + below(4);
  auto& said = asked.parameters;
  said = {{"sequence_id", id}};
  if (harmless || !sequences_.contains(id) || chance(15)) {
    said["sequence_start"] = true;
    sequences_[id] = ++starts_;
  }
  if (harmless || chance(10))
    said["sequence_end"] = true;
  made.sequence = sequences_[id];
  note(fmt::format("  as a step of {}, start {}", id, made.sequence));
}

void random_world::cancel_one() {
  if (asked_.empty())
    return;
  const auto& which = any_of(asked_);
  const auto held = which.held.lock();
  if (!held || held->answered())
    return;
  note(which.name + " is cancelled");
  held->cancel();
  tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, held);
}

// Work ends in any order, well or badly, or is lost with no word.
void random_world::work_a_little() {
  auto& list = *any_of(lists_);
  auto& waiting = list.waiting;
  if (waiting.empty())
    return;
  std::swap(waiting.front(), any_of(waiting));
  const auto luck = below(100);
  if (luck < 85) {
    note("a batch runs");
    list.run_next();
  } else if (luck < 92) {
    note("a batch fails");
    list.run_next(broken);
  } else if (luck < 96) {
    note("a device is lost");
    list.run_next(gone);
  } else if (luck < 98 && falls_silent_) {
    note("a device falls silent");
    fall_silent(list);
  } else {
    note("a completion is lost");
    waiting.pop_front();
  }
}

void random_world::kill_somebody() {
  std::vector<stage_id> who;
  for (const auto& [id, name] : wired)
    who.push_back(id);
  for (const auto& one : shared->live->all())
    if (one->where)
      who.push_back(one->where->entry);
  const auto chosen = any_of(who);
  const auto handle = shared->stages->get<caf::actor>(chosen);
  note(fmt::format("{} is killed{}",
                   wired.contains(chosen) ? wired.at(chosen) : "a batcher or stage",
                   handle ? "" : ", but was dead"));
  if (handle)
    caf::anon_send_exit(handle, caf::exit_reason::kill);
  auto& list = *any_of(lists_);
  if (chance(20)) // and does not come back at once
    list.failing_streams = static_cast<int>(below(3));
  if (chance(10))
    list.failing_runs = 1;
  if (chance(10))
    list.fatal_plans = 1;
}

void random_world::change_models() {
  if (chance(75)) {
    note("another version is loaded");
    (void)load_next();
    return;
  }
  note("the model is unloaded");
  order_unload([](const result<void>&) {});
}

void random_world::check_bounds() {
  BOOST_TEST(shared->budget->requests() <= parts.with.max_requests);
  for (const auto& one : shared->live->all()) {
    if (one->model)
      probes_.insert(one->model->probe);
    if (one->where)
      loads_.insert(one->where->load);
  }
  // A request with more rows is queued alone, and relief brings at most one batch more from each
  // sibling.
  const auto count = static_cast<std::int64_t>(devices_.size());
  // Steps may wait for slots beside those that wait for the device.
  const auto bound = (std::max(spec_.queue_rows, most_rows) + (count - 1) * spec_.max_batch)
                     * (spec_.sequences ? 2 : 1);
  for (const auto& one : probes_)
    BOOST_TEST(one->read().queued_rows <= bound * count);
  for (const auto& one : loads_)
    BOOST_TEST(one->queued_rows() <= bound);
  for (const auto& on : devices_) {
    BOOST_TEST(on->held_bytes() + weight_bytes <= budget_);
    BOOST_TEST(on->held_bytes(sim::side::host) <= pinned_budget_);
  }
}

bool random_world::work_all() {
  bool any = false;
  for (const auto& list : lists_)
    while (list->run_next())
      any = true;
  return any;
}

void random_world::settle(int steps, duration step) {
  for (int i = 0; i < steps; ++i) {
    do
      scheduler.run();
    while (work_all());
    scheduler.advance_time(step);
  }
  scheduler.run();
}

// Nothing goes wrong any more: everybody is answered well before the longest deadline is over.
void random_world::come_to_rest() {
  note("-- to rest");
  for (const auto& list : lists_)
    list->failing_streams = list->failing_runs = list->fatal_plans = 0;
  settle(30, 1s);
  BOOST_TEST(shared->budget->requests() == 0u);
  for (const auto& one : loads_)
    BOOST_TEST(one->waiting_rows() == 0, "nothing is on its way for ever");
  BOOST_TEST(shared->resources->available("r", 0) == (needs_resource_ ? 1 : 0));
}

void random_world::check_answers() {
  for (const auto& one : asked_) {
    const auto at = answers.find(one.name);
    BOOST_TEST((at != answers.end()), one.name << " is never answered");
    if (at == answers.end())
      continue;
    const auto& part = at->second;
    note(one.name + ": " + (part ? "ok" : to_string(part.error())));
    if (!part) {
      BOOST_TEST((part.error().code != errc::deadline_exceeded || one.hurried),
                 one.name << " was lost on its way: " << part.error().text);
      continue;
    }
    const auto& y = part->outputs.at(0).value;
    BOOST_TEST(y.dims.at(0) == one.rows);
    if (spec_.sequences)
      continue;
    const auto values = elements_of<float>(y.data);
    BOOST_TEST(std::all_of(values.begin(), values.end(), [&](float v) { return v == one.value; }),
               one.name << " got the rows of another");
  }
}

// An answered step has added up the answered steps before it, in the order in which they were sent,
// and nothing else. What follows a start that was refused is not a sequence.
void random_world::check_sums() {
  if (!spec_.sequences)
    return;
  std::map<int, std::optional<float>> sums;
  for (const auto& one : asked_) {
    const auto at = answers.find(one.name);
    const bool answered = at != answers.end() && at->second;
    auto& sum =
        sums.try_emplace(one.sequence, answered ? std::optional{0.0F} : std::nullopt).first->second;
    if (!answered || !sum)
      continue;
    *sum += one.value;
    const auto& y = at->second->outputs.at(0).value;
    const auto got = elements_of<float>(y.data)[0];
    BOOST_TEST(got == *sum, one.name << " got the sum " << got << " instead of " << *sum);
  }
}

void random_world::check_recovery() {
  note("-- recovery");
  const auto loaded = load_next();
  settle(20, 100ms);
  BOOST_TEST(*loaded, "a model can be loaded afterwards");
  const auto before = asked_.size();
  for (std::size_t i = 0; i < 4; ++i) {
    ask(true);
    if (spec_.sequences) // there may be memory for one state only
      settle(20, 100ms);
  }
  settle(20, 100ms);
  BOOST_TEST(asked_.size() == before + 4, "requests are admitted afterwards");
  for (auto i = before; i < asked_.size(); ++i)
    BOOST_TEST(outcome(asked_[i].name) == "ok");
  check_sums();
}

void random_world::check_end() {
  unload();
  settle(60, 1s);
  for (const auto& on : devices_) {
    BOOST_TEST(on->held_bytes() == 0u, "every block went back to its device");
    BOOST_TEST(on->held_bytes(sim::side::host) == 0u, "so did the host's that were lent for it");
  }
}

} // namespace troupe::test
