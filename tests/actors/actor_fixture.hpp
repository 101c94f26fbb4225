#pragma once

// The real actors, all of them on CAF's deterministic scheduler, with time turned by hand and the
// fake engine at their end:
//
//   infer -> router -> batcher -> device (scheduled) -> held work -> device -> answer
//               |                    |
//            preprocess       memory, storage (scheduled)

#include "actors/hand_on.hpp"
#include "actors/long_turn.hpp"
#include "actors/simulation/virtual_system.hpp"
#include "tests/actors/stateful_engine.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <string>

namespace troupe::test {

using namespace std::chrono_literals;
using namespace troupe::actors;

struct actor_fixture {
  actor_fixture() {
    parts.devices = {device};
    work->while_running = [this] { run_for(*work); };
  }

  void run_for(const work_list& list) { scheduler.advance_time(list.cost.value_or(run_time)); }

  ~actor_fixture() {
    world.stop();
    BOOST_TEST(shared->live->count() == 0u, "every request was answered");
    BOOST_TEST(shared->budget->requests() == 0u, "no unit was lost");
    BOOST_TEST(shared->budget->bytes() == 0u, "no unit was lost");
  }

  /// What `load` makes: the identity, on every device.
  struct model_spec {
    batching::policy policy;
    std::int64_t max_batch = 256;
    std::int64_t queue_rows = 4096;
    std::string name = "m";
    std::vector<std::string> versions{"1"};
    placement::version_rules rules{};
    std::optional<duration> cost{}; ///< of every run, instead of `run_time`
    std::vector<placement::instance_terms> terms{};
    bool first_device_only = false;
    batching::padding padding{};
    std::vector<std::vector<tensor>> warm_up{};
    std::shared_ptr<const sequences::rules> sequences{}; ///< then the model is sums of sequences
  };

  /// A further device, with work of its own.
  std::shared_ptr<work_list> add_device() {
    auto list = std::make_shared<work_list>();
    list->while_running = [this, on = list.get()] { run_for(*on); };
    more.push_back(std::make_shared<fake_device>(list));
    parts.devices.push_back(more.back());
    return list;
  }

  /// Starts everything and loads the identity model `m`.
  void start(batching::policy policy, std::int64_t max_batch = 256,
             std::int64_t queue_rows = 4096) {
    boot();
    load({policy, max_batch, queue_rows});
  }

  void boot() {
    world.start(parts, [this](child_spec& child) {
      wired[child.id] = child.name;
      if (child.name.starts_with("memory") && memory == 0)
        memory = child.id;
      child.spawn = [this, spawn = std::move(child.spawn)](caf::actor_system& in) {
        BOOST_TEST(!!shared->stages->get<supervisor_actor>(shared->supervisor),
                   "a child can tell its supervisor from its first step");
        return spawn(in);
      };
    });
  }

  void load(const model_spec& spec) {
    bool loaded = false;
    order(spec, [&](const result<void>& outcome) {
      BOOST_REQUIRE_MESSAGE(outcome, (outcome ? "" : outcome.error().text));
      loaded = true;
    });
    scheduler.run();
    BOOST_REQUIRE(loaded);
  }

  /// Asks the catalog for it, and waits for nothing.
  void order(const model_spec& spec, std::function<void(result<void>)> done) {
    auto asked = std::make_shared<load_request>();
    asked->name = spec.name;
    asked->load = [=, this]() -> result<std::vector<loaded_model>> {
      std::vector<loaded_model> made;
      for (const auto& version : spec.versions) {
        auto& model = made.emplace_back();
        model.version = version;
        model.on.push_back(model_on(device, spec));
        for (const auto& further : more)
          model.on.push_back(spec.first_device_only ? nullptr : model_on(further, spec));
        model.warm_up = spec.warm_up;
        model.settings.sequences = spec.sequences;
        model.settings.stateless = !spec.sequences;
        model.terms = spec.terms;
        model.settings.padding = spec.padding;
        model.io = model.on[0]->io();
        model.io.max_batch_size = spec.max_batch;
        model.settings.batching = spec.policy;
        model.settings.batching.max_rows = std::min(spec.policy.max_rows, spec.max_batch);
        model.settings.max_queue_rows = spec.queue_rows;
        model.settings.priorities = priorities;
        model.weight_bytes = 4096;
        model.rules = spec.rules;
      }
      return made;
    };
    asked->done = std::move(done);
    tell<catalog_actor>(*shared, shared->catalog, load_atom_v, load_request_ptr{asked});
  }

  std::shared_ptr<placement::executable> model_on(const std::shared_ptr<fake_device>& on,
                                                  const model_spec& spec) const {
    if (spec.sequences)
      return std::make_shared<sum_executable>(on, on->work());
    return identity_on(on, spec.cost);
  }

  std::shared_ptr<identity_executable> identity_on(const std::shared_ptr<fake_device>& on,
                                                   std::optional<duration> cost) const {
    auto made = std::make_shared<identity_executable>(on, on->work(), cost);
    for (std::int64_t rows = 1; rows <= planned_up_to; rows *= 2)
      BOOST_REQUIRE(made->prepare(std::vector{shape{rows, 2}}));
    return made;
  }

  /// Sends a request of `rows` rows, each two numbers that begin with `value`.
  std::shared_ptr<job::impl> infer(const std::string& name, std::int64_t rows = 1, float value = 1,
                                   duration deadline = 60s, std::uint32_t priority = 0) {
    auto asked = make(name, rows, value, deadline, priority);
    hand_on(*shared, shared->router, asked);
    scheduler.run();
    return asked;
  }

  /// The same with something else about it.
  std::shared_ptr<job::impl> infer(const std::string& name,
                                   const std::function<void(inference_request&)>& change) {
    auto asked = make(name);
    change(asked->request);
    hand_on(*shared, shared->router, asked);
    scheduler.run();
    return asked;
  }

  /// Makes the request without sending it.
  std::shared_ptr<job::impl> make(const std::string& name, std::int64_t rows = 1, float value = 1,
                                  duration deadline = 60s, std::uint32_t priority = 0) {
    inference_request request;
    request.model_name = "m";
    request.id = name;
    request.priority = priority;
    const auto bytes = static_cast<std::size_t>(rows) * 2 * sizeof(float);
    auto block = allocate_aligned(bytes);
    for (std::int64_t i = 0; i < 2 * rows; ++i)
      reinterpret_cast<float*>(block.get())[i] = value;
    const auto* data = block.get();
    request.inputs.push_back(
        {"x", tensor{dtype::float32, {rows, 2}, {std::move(block), {data, bytes}}}, {}});
    auto units = shared->budget->admit(bytes);
    BOOST_REQUIRE(units);
    return job::impl::make(
        std::move(request),
        [this, name](response_part part, bool final) {
          BOOST_TEST(final);
          BOOST_TEST(!answers.contains(name), name << " is answered twice");
          answers.emplace(name, std::move(part));
          answers_in_long_turns += long_turn::open() ? 1 : 0;
        },
        std::make_shared<shared_units>(std::move(*units)), shared->live, clock->now() + deadline);
  }

  static constexpr auto run_time = 30ms; ///< of every piece of work: longer than planning takes

  /// The device does its next piece of work, with this outcome.
  bool work_once(std::optional<error> failing = {}) {
    const bool done = work->run_next(std::move(failing));
    scheduler.run();
    return done;
  }

  /// Ends an actor as a fault would; takes effect with the scheduler's next step.
  template <class Handle>
  void kill(stage_id id) {
    caf::anon_send_exit(shared->stages->get<Handle>(id), caf::exit_reason::kill);
  }

  /// Two requests where there is memory for one, whose keeper dies while the other waits.
  void two_outlive(stage_id keeper) {
    infer("a");
    infer("b");
    BOOST_TEST(work->waiting.size() == 1u);
    kill<memory_actor>(keeper);
    scheduler.run();
    pass(0ms);
    work_once();
    work_once();
    BOOST_TEST(outcome("a") == "ok");
    BOOST_TEST(outcome("b") == "ok");
  }

  /// Unloads the model `m`.
  void unload() {
    bool unloaded = false;
    order_unload([&](const result<void>& outcome) { unloaded = outcome.has_value(); });
    scheduler.run();
    BOOST_TEST(unloaded);
  }

  /// Asks the catalog for it, and waits for nothing.
  void order_unload(std::function<void(result<void>)> done) {
    auto gone = std::make_shared<load_request>();
    gone->name = "m";
    gone->done = std::move(done);
    tell<catalog_actor>(*shared, shared->catalog, unload_atom_v, load_request_ptr{gone});
  }

  /// What the catalog says of every model.
  std::vector<protocol::model_statistics> statistics() {
    std::vector<protocol::model_statistics> seen;
    query asked;
    asked.of = query::what::statistics;
    asked.statistics = [&](auto all) { seen = *all; };
    tell<catalog_actor>(*shared, shared->catalog, query_atom_v,
                        query_ptr{std::make_shared<query>(asked)});
    scheduler.run();
    return seen;
  }

  void pass(duration time) {
    scheduler.advance_time(time);
    scheduler.run();
  }

  /// "ok", or the code of the error; "" while there is no answer.
  std::string outcome(const std::string& name) const {
    const auto at = answers.find(name);
    if (at == answers.end())
      return "";
    return at->second ? "ok" : std::string{to_string(at->second.error().code)};
  }

  batching::priority_rules priorities; ///< of the model that `start` loads
  std::int64_t planned_up_to = 256;    ///< rows for which there is a plan from the beginning
  std::shared_ptr<work_list> work = std::make_shared<work_list>();
  std::shared_ptr<fake_device> device = std::make_shared<fake_device>(work);
  std::vector<std::shared_ptr<fake_device>> more; ///< devices beside `device`
  std::map<std::string, response_part> answers;
  int answers_in_long_turns = 0;
  stage_id memory = 0;                   ///< of the first device
  std::map<stage_id, std::string> wired; ///< who is there from the beginning
  system_parts parts;
  simulation::virtual_system world;
  std::shared_ptr<const clock_source> clock = world.clock();
  commons_ptr shared = world.shared();
  caf::scheduler::test_coordinator& scheduler = world.scheduler();
};

inline const batching::policy latency = *batching::preset("latency");
inline const batching::policy throughput = *batching::preset("throughput");

} // namespace troupe::test
