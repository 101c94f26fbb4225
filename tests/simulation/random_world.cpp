#include "tests/simulation/random_world.hpp"

#include <fmt/chrono.h>

#include <ostream>

namespace troupe::test {

namespace {

constexpr std::size_t weight_bytes = 4096;
const error broken{errc::internal, "broken on purpose"};
const error gone{errc::unavailable, "the device is gone"};

} // namespace

random_world::random_world(std::uint64_t seed, std::ostream* trace) : dice_(seed), trace_(trace) {
  work->while_running = [this] { scheduler.advance_time(1ms * below(20)); };
}

std::int64_t random_world::below(std::int64_t bound) {
  return static_cast<std::int64_t>(dice_() % static_cast<std::uint64_t>(bound));
}

void random_world::note(std::string_view what) {
  if (trace_)
    *trace_ << fmt::format(
        "{:9.3f} ms  {}\n",
        std::chrono::duration<double, std::milli>(clock->now() - time_point{} - 1h).count(), what);
}

void random_world::run() {
  furnish();
  const auto steps = 20 + below(180);
  for (std::int64_t i = 0; i < steps; ++i) {
    do_something();
    check_bounds();
  }
  come_to_rest();
  check_recovery();
}

void random_world::furnish() {
  const auto devices = 1 + below(3);
  for (std::int64_t i = 0; i < devices; ++i) {
    devices_.push_back(std::make_shared<fake_device>(work));
    devices_.back()->about().tickets = static_cast<int>(1 + below(2));
  }
  parts.devices = {devices_.begin(), devices_.end()};
  parts.with.max_requests = static_cast<std::size_t>(one_of({8, 64, 4096}));
  budget_ = weight_bytes * static_cast<std::size_t>(one_of({4, 8, 4096})); // three versions, blocks
  parts.with.device_memory_bytes = budget_;
  policy_ = *batching::preset(one_of({"auto", "latency", "throughput"}));
  if (policy_.adapts && chance(50))
    policy_.objective = 1ms * (10 + below(200));
  max_batch_ = one_of({1, 4, 16, 256});
  policy_.max_rows = std::min(policy_.max_rows, max_batch_);
  queue_rows_ = one_of({4, 32, 4096});
  planned_up_to = one_of({0, 4, 256});

  auto children = wire(shared, parts, {.detached = false, .storages = 2});
  for (const auto& child : children)
    mortal_.push_back(child.id), names_[child.id] = child.name;
  shared->offload = [](const std::function<void()>& computation) { computation(); };
  root = system.spawn(supervisor, shared, std::move(children));
  scheduler.run();
  const auto loaded = load();
  scheduler.run();
  BOOST_REQUIRE_MESSAGE(*loaded, "the model is loaded when nothing is wrong");
}

// Loads a further version in the place of the one before.
std::shared_ptr<bool> random_world::load() {
  auto asked = std::make_shared<load_request>();
  asked->name = "m";
  asked->load = [this,
                 version = std::to_string(++versions_)]() -> result<std::vector<loaded_model>> {
    loaded_model model;
    model.version = version;
    for (const auto& on : devices_) {
      const auto identity = std::make_shared<identity_executable>(on, work);
      for (std::int64_t rows = 1; rows <= planned_up_to; rows *= 2)
        if (auto plan = identity->prepare(std::vector{shape{rows, 2}}); !plan)
          return propagate(std::move(plan));
      model.on.push_back(identity);
    }
    model.io = model.on[0]->io();
    model.io.max_batch_size = max_batch_;
    model.settings.batching = policy_;
    model.settings.max_queue_rows = queue_rows_;
    model.weight_bytes = weight_bytes;
    return std::vector{model};
  };
  auto succeeded = std::make_shared<bool>(false);
  asked->done = [this, succeeded](const result<void>& outcome) {
    note(outcome ? "it is loaded" : "it is not loaded: " + outcome.error().text);
    *succeeded = outcome.has_value();
  };
  tell<catalog_actor>(*shared, shared->catalog, load_atom_v, load_request_ptr{asked});
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

void random_world::ask(bool harmless) {
  const auto name = fmt::format("r{}", asked_.size());
  const auto rows = harmless ? 1 : one_of({1, 1, 1, 2, 5, 17});
  const auto bytes = static_cast<std::size_t>(rows) * 2 * sizeof(float);
  auto units = shared->budget->admit(bytes);
  if (!units) {
    note(name + " is not admitted");
    return;
  }
  inference_request wanted;
  wanted.model_name = "m";
  wanted.id = name;
  auto block = allocate_aligned(bytes);
  auto* values = reinterpret_cast<float*>(block.get());
  for (std::int64_t i = 0; i < 2 * rows; ++i)
    values[i] = static_cast<float>(asked_.size());
  if (!harmless && chance(3))
    values[0] = identity_run::poison;
  wanted.inputs.push_back(
      {"x",
       tensor{dtype::float32,
              {rows, 2},
              {std::move(block), {reinterpret_cast<std::byte*>(values), bytes}}},
       {}});
  const auto deadline = 1ms * (harmless ? 60'000 : one_of({1, 20, 200, 2000, 60'000, 60'000}));
  note(fmt::format("{} asks with {} rows, {} left", name, rows, deadline));
  const auto first = static_cast<float>(asked_.size());
  auto made = job::impl::make(
      std::move(wanted),
      [this, name, first, rows](response_part part, bool final) {
        note(fmt::format(
            "{} is answered: {}", name,
            part ? "ok" : std::string{to_string(part.error().code)} + ", " + part.error().text));
        BOOST_TEST(final);
        BOOST_TEST(!answers.contains(name), name << " is answered twice");
        if (part) {
          const auto& y = part->outputs.at(0).value;
          BOOST_TEST(y.dims.at(0) == rows);
          const auto* got = reinterpret_cast<const float*>(y.data.data());
          for (std::int64_t i = 0; i < 2 * rows; ++i)
            BOOST_REQUIRE(got[i] == first);
        }
        answers.emplace(name, std::move(part));
      },
      std::make_shared<shared_units>(std::move(*units)), shared->live, clock->now() + deadline);
  asked_.push_back({made, name});
  hand_on(*shared, shared->router, made);
}

void random_world::cancel_one() {
  if (asked_.empty())
    return;
  const auto& which =
      asked_[static_cast<std::size_t>(below(static_cast<std::int64_t>(asked_.size())))];
  const auto held = which.held.lock();
  if (!held || held->answered())
    return;
  note(which.name + " is cancelled");
  held->cancel();
  tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, held);
}

// Work ends in any order, well or badly, or is lost with no word.
void random_world::work_a_little() {
  auto& waiting = work->waiting;
  if (waiting.empty())
    return;
  std::swap(waiting.front(),
            waiting[static_cast<std::size_t>(below(static_cast<std::int64_t>(waiting.size())))]);
  const auto luck = below(100);
  if (luck < 85) {
    note("a batch runs");
    work->run_next();
  } else if (luck < 92) {
    note("a batch fails");
    work->run_next(broken);
  } else if (luck < 97) {
    note("a device is lost");
    work->run_next(gone);
  } else {
    note("a completion is lost");
    waiting.pop_front();
  }
}

void random_world::kill_somebody() {
  std::vector<stage_id> who = mortal_;
  for (const auto& one : shared->live->all())
    if (one->where)
      who.push_back(one->where->entry);
  const auto chosen = who[static_cast<std::size_t>(below(static_cast<std::int64_t>(who.size())))];
  const auto handle = shared->stages->get<caf::actor>(chosen);
  const auto child = names_.find(chosen);
  note(fmt::format("{} is killed{}", child == names_.end() ? "a batcher" : child->second,
                   handle ? "" : ", but was dead"));
  if (handle)
    caf::anon_send_exit(handle, caf::exit_reason::kill);
  if (chance(20)) // and does not come back at once
    work->failing_streams = static_cast<int>(below(3));
  if (chance(10))
    work->failing_runs = 1;
  if (chance(10))
    work->fatal_plans = 1;
}

void random_world::change_models() {
  if (chance(75)) {
    note("another version is loaded");
    (void)load();
    return;
  }
  note("the model is unloaded");
  auto asked = std::make_shared<load_request>();
  asked->name = "m";
  asked->done = [](const result<void>&) {};
  tell<catalog_actor>(*shared, shared->catalog, unload_atom_v, load_request_ptr{asked});
}

void random_world::check_bounds() {
  BOOST_TEST(shared->budget->requests() <= parts.with.max_requests);
  for (const auto& one : shared->live->all())
    if (one->model)
      probes_.insert(one->model->probe);
  for (const auto& one : probes_) // a request with more rows is queued alone
    BOOST_TEST(one->read().queued_rows
               <= std::max<std::int64_t>(queue_rows_, 17) * static_cast<std::int64_t>(devices_.size()));
  for (const auto& on : devices_)
    BOOST_TEST(on->held_bytes() + weight_bytes <= budget_);
}

// Nothing goes wrong any more: everybody is answered well before the longest deadline is over.
void random_world::come_to_rest() {
  note("-- to rest");
  work->failing_streams = work->failing_runs = work->fatal_plans = 0;
  for (int second = 0; second < 30; ++second) {
    do
      scheduler.run();
    while (work->run_next());
    scheduler.advance_time(1s);
  }
  scheduler.run();
  for (const auto& one : asked_)
    BOOST_TEST(answers.contains(one.name), one.name << " is never answered");
  BOOST_TEST(shared->budget->requests() == 0u);
}

void random_world::check_recovery() {
  note("-- recovery");
  const auto settle = [this] {
    for (int i = 0; i < 20; ++i) {
      do
        scheduler.run();
      while (work->run_next());
      scheduler.advance_time(100ms);
    }
    scheduler.run();
  };
  const auto loaded = load();
  settle();
  BOOST_TEST(*loaded, "a model can be loaded afterwards");
  const auto before = asked_.size();
  for (std::size_t i = 0; i < 4; ++i)
    ask(true);
  settle();
  BOOST_TEST(asked_.size() == before + 4, "requests are admitted afterwards");
  for (auto i = before; i < asked_.size(); ++i)
    BOOST_TEST(outcome(asked_[i].name) == "ok");
  unload();
  for (int i = 0; i < 60; ++i) {
    scheduler.advance_time(1s);
    scheduler.run();
  }
  for (const auto& on : devices_)
    BOOST_TEST(on->held_bytes() == 0u, "every block went back to its device");
}

} // namespace troupe::test
