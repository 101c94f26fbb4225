// Sequences through all actors, to a model whose answer is the sum of a sequence's rows so far.

#include "tests/actors/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct sequence_fixture : actor_fixture {
  void start_sums(std::size_t slots = 8, batching::policy policy = latency) {
    boot();
    spec.policy = policy;
    spec.max_batch = 8;
    spec.sequences = sum_rules(slots, 1s);
    load_sums();
  }

  // A warm-up passes the devices on the way.
  void load_sums() {
    bool loaded = false;
    order(spec, [&](const result<void>& outcome) { loaded = outcome.has_value(); });
    scheduler.run();
    BOOST_REQUIRE(loaded);
  }

  enum flags : unsigned { none = 0, first = 1, last = 2 };

  std::shared_ptr<job::impl> step(const std::string& name, std::int64_t id, float value,
                                  unsigned with = none, duration deadline = 60s) {
    auto asked = make(name, 1, value, deadline);
    auto& said = asked->request.parameters;
    said = {{"sequence_id", id}};
    if (with & first)
      said["sequence_start"] = true;
    if (with & last)
      said["sequence_end"] = true;
    hand_on(*shared, shared->router, asked);
    scheduler.run();
    return asked;
  }

  std::string sum(const std::string& name) {
    const auto at = answers.find(name);
    if (at == answers.end() || !at->second)
      return outcome(name);
    BOOST_TEST(at->second->outputs.size() == 1u); // the state stays here
    return std::to_string(
        static_cast<int>(elements_of<float>(at->second->outputs[0].value.data)[1]));
  }
  std::string text(const std::string& name) { return answers.at(name).error().text; }
  std::uint64_t live() { return statistics().at(0).live_sequences; }

  void rest() {
    for (int i = 0; i < 60; ++i)
      pass(1s);
  }

  model_spec spec;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(a_stateful_model, sequence_fixture)

BOOST_AUTO_TEST_CASE(adds_up_each_sequence_and_runs_them_together) {
  start_sums();
  step("a1", 1, 1, first);
  step("b1", 2, 10, first);
  step("a2", 1, 2);
  step("b2", 2, 20, last);
  BOOST_TEST(live() == 2u);
  while (work_once()) {
  }
  BOOST_TEST(sum("a1") == "1");
  BOOST_TEST(sum("a2") == "3");
  BOOST_TEST(sum("b2") == "30");
  BOOST_TEST(live() == 1u);
  step("a3", 1, 3, last);
  step("b3", 2, 1);
  work_once();
  BOOST_TEST(sum("a3") == "6");
  BOOST_TEST(outcome("b3") == "FAILED_PRECONDITION");
  BOOST_TEST(text("b3").find("no sequence 2 is live") != std::string::npos);
  BOOST_TEST(live() == 0u);
  rest();
  BOOST_TEST(device->held_bytes() == 0u, "states go back to the device");
}

BOOST_AUTO_TEST_CASE(lets_steps_of_many_sequences_share_batches_but_none_overtake) {
  start_sums();
  step("busy", 9, 1, first);
  for (int i = 1; i <= 4; ++i) {
    step("s" + std::to_string(i), i, 1, first);
    step("t" + std::to_string(i), i, 1);
  }
  while (work_once()) {
  }
  BOOST_TEST(work->run_rows == (std::vector<std::int64_t>{1, 4, 4}),
             boost::test_tools::per_element());
  for (int i = 1; i <= 4; ++i)
    BOOST_TEST(sum("t" + std::to_string(i)) == "2");
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong_with_a_step) {
  start_sums();
  infer("no id", [](auto& request) { request.parameters.clear(); });
  BOOST_TEST(text("no id").find("expected the parameter sequence_id") != std::string::npos);
  infer("zero", [](auto& request) { request.parameters["sequence_id"] = std::int64_t{0}; });
  BOOST_TEST(outcome("zero") == "INVALID_ARGUMENT");
  infer("no flag", [](auto& request) {
    request.parameters = {{"sequence_id", std::int64_t{1}}, {"sequence_start", std::int64_t{1}}};
  });
  BOOST_TEST(text("no flag").find("sequence_start: expected true or false") != std::string::npos);
  infer("long", [](auto& request) { request.parameters["sequence_id"] = std::string(129, 'x'); });
  BOOST_TEST(outcome("long") == "INVALID_ARGUMENT");
  infer("state", [](auto& request) {
    request.parameters["sequence_id"] = std::string{"x"};
    request.inputs.push_back(request.inputs[0]);
    request.inputs[1].name = "sum";
  });
  BOOST_TEST(text("state") == "model m: no input \"sum\"; it takes: x");
  step("no start", 1, 1);
  BOOST_TEST(outcome("no start") == "FAILED_PRECONDITION");
  auto two = make("two rows", 2);
  two->request.parameters = {{"sequence_id", std::int64_t{1}}, {"sequence_start", true}};
  hand_on(*shared, shared->router, two);
  scheduler.run();
  BOOST_TEST(text("two rows").find("has one row") != std::string::npos);
  BOOST_TEST(live() == 0u);
}

BOOST_AUTO_TEST_CASE(never_runs_a_step_twice) {
  start_sums();
  step("a1", 1, 1, first);
  step("b1", 2, 1, first);
  while (work_once()) {
  }
  step("a2", 1, 2);
  step("a3", 1, 3);
  work_once(error{errc::internal, "broken"});
  BOOST_TEST(outcome("a2") == "INTERNAL");
  BOOST_TEST(text("a2").find("its sequence is lost") != std::string::npos);
  BOOST_TEST(outcome("a3") == "FAILED_PRECONDITION");
  BOOST_TEST(!work_once());
  step("a4", 1, 4);
  BOOST_TEST(outcome("a4") == "FAILED_PRECONDITION");
  step("c1", 1, 5, first);
  step("b2", 2, 1);
  while (work_once()) {
  }
  BOOST_TEST(sum("c1") == "5");
  BOOST_TEST(sum("b2") == "2");
}

BOOST_AUTO_TEST_CASE(loses_what_a_device_held_and_no_more) {
  start_sums();
  step("a1", 1, 1, first);
  step("b1", 2, 1, first);
  while (work_once()) {
  }
  step("a2", 1, 1);
  for (const auto& [id, name] : wired)
    if (name.starts_with("device"))
      kill<device_actor>(id);
  scheduler.run();
  pass(1ms);
  BOOST_TEST(outcome("a2") == "INTERNAL");
  step("b2", 2, 1);
  work_once();
  BOOST_TEST(sum("b2") == "2"); // whose state the host can see
}

BOOST_AUTO_TEST_CASE(loses_a_sequence_with_a_step_that_is_given_up) {
  start_sums();
  step("a1", 1, 1, first);
  work_once();
  step("busy", 2, 1, first);
  step("a2", 1, 2);
  auto unwanted = step("a3", 1, 3);
  unwanted->cancel();
  tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, unwanted);
  scheduler.run();
  BOOST_TEST(outcome("a3") == "CANCELLED");
  step("a4", 1, 4);
  BOOST_TEST(outcome("a4") == "FAILED_PRECONDITION");
  while (work_once()) {
  }
  BOOST_TEST(sum("a2") == "3"); // it was in front of it
  step("late", 2, 1, none, 40ms);
  pass(50ms);
  BOOST_TEST(outcome("late") == "DEADLINE_EXCEEDED");
  while (work_once()) {
  }
  step("later", 2, 1);
  BOOST_TEST(outcome("later") == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(ends_a_sequence_that_is_idle) {
  start_sums();
  step("a1", 1, 1, first);
  work_once();
  pass(900ms);
  step("a2", 1, 1);
  work_once();
  pass(999ms);
  BOOST_TEST(live() == 1u);
  pass(1ms);
  BOOST_TEST(live() == 0u);
  step("a3", 1, 1);
  BOOST_TEST(outcome("a3") == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(makes_sequences_wait_for_a_slot_and_refuses_more_than_may_wait) {
  spec.queue_rows = 2;
  start_sums(1);
  step("a1", 1, 1, first);
  step("b1", 2, 10, first);
  step("c1", 3, 100, first);
  step("d1", 4, 1000, first);
  BOOST_TEST(outcome("d1") == "RESOURCE_EXHAUSTED");
  work_once();
  BOOST_TEST(sum("a1") == "1");
  BOOST_TEST(outcome("b1") == "");
  step("a2", 1, 1, last);
  work_once();
  work_once();
  BOOST_TEST(sum("b1") == "10");
  pass(1s); // idle
  work_once();
  BOOST_TEST(sum("c1") == "100");
}

BOOST_AUTO_TEST_CASE(refuses_a_sequence_for_which_there_is_no_memory) {
  parts.with.device_memory_bytes = 4 * 4096; // weights, a batch, two states
  start_sums();
  int refused = 0;
  for (int i = 1; i <= 8; ++i) {
    const auto name = "s" + std::to_string(i);
    step(name, i, 1, first);
    while (work_once()) {
    }
    refused += outcome(name) == "RESOURCE_EXHAUSTED" ? 1 : 0;
  }
  BOOST_TEST(refused == 6);
  BOOST_TEST(live() == 2u);
  pass(2s);
  step("again", 9, 1, first);
  work_once();
  BOOST_TEST(sum("again") == "1");
}

BOOST_AUTO_TEST_CASE(keeps_a_sequence_on_the_placement_where_it_began) {
  auto other = add_device();
  start_sums();
  step("a1", 1, 1, first);
  step("b1", 2, 1, first); // to the other one
  BOOST_TEST(other->waiting.size() == 1u);
  step("b2", 2, 1);
  work_once(); // idle, and not to take over what the other has
  BOOST_TEST(sum("a1") == "1");
  BOOST_TEST(work->waiting.empty());
  for (int i = 0; i < 2; ++i) {
    other->run_next();
    scheduler.run();
  }
  BOOST_TEST(sum("b2") == "2");
}

BOOST_AUTO_TEST_CASE(lets_sequences_finish_on_a_version_that_is_replaced) {
  start_sums();
  step("a1", 1, 1, first);
  work_once();
  spec.versions = {"2"};
  load_sums();
  step("a2", 1, 1);
  step("b1", 2, 1, first);
  while (work_once()) {
  }
  BOOST_TEST(answers.at("a2")->model_version == "1");
  BOOST_TEST(answers.at("b1")->model_version == "2");
  pass(900ms);
  step("a3", 1, 1, last);
  work_once();
  BOOST_TEST(sum("a3") == "3");
  step("a4", 1, 1);
  BOOST_TEST(outcome("a4") == "FAILED_PRECONDITION");
  step("c1", 3, 1, first);
  work_once();
  unload();
  step("c2", 3, 1);
  BOOST_TEST(outcome("c2") == "NOT_FOUND");
  rest();
  BOOST_TEST(device->held_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(forgets_a_sequence_of_a_former_version_whose_id_another_has) {
  start_sums();
  step("a1", 1, 1, first);
  work_once();
  spec.versions = {"2"};
  load_sums();
  step("b1", 1, 10, first | last);
  work_once();
  BOOST_TEST(answers.at("b1")->model_version == "2");
  step("a2", 1, 1);
  BOOST_TEST(outcome("a2") == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(begins_anew_behind_the_steps_of_a_sequence_of_the_same_id) {
  start_sums();
  step("a1", 1, 1, first);
  step("a2", 1, 1);
  step("b1", 1, 100, first);
  step("b2", 1, 1);
  while (work_once()) {
  }
  BOOST_TEST(sum("a2") == "2");
  BOOST_TEST(sum("b1") == "100");
  BOOST_TEST(sum("b2") == "101");
}

BOOST_AUTO_TEST_CASE(loses_its_sequences_with_their_batcher) {
  start_sums();
  auto asked = step("a1", 1, 1, first);
  const auto batcher_id = asked->where->entry;
  asked.reset();
  work_once();
  kill<batcher_actor>(batcher_id);
  scheduler.run();
  pass(1ms);
  BOOST_TEST(live() == 0u);
  step("a2", 1, 1);
  BOOST_TEST(outcome("a2") == "FAILED_PRECONDITION");
  step("b1", 1, 1, first);
  work_once();
  BOOST_TEST(sum("b1") == "1");
}

BOOST_AUTO_TEST_SUITE_END()
