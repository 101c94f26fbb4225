// Several placements of one model, and several models on one device.

#include "tests/actors/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

batching::policy one_row() {
  auto made = latency;
  made.max_rows = 1;
  return made;
}

const auto row_by_row = one_row();
const error lost{errc::unavailable, "the device is gone"};

struct two_devices : actor_fixture {
  std::shared_ptr<work_list> second = add_device();

  bool second_once(std::optional<error> failing = {}) {
    const bool done = second->run_next(std::move(failing));
    scheduler.run();
    return done;
  }

  void infer_many(int count) {
    for (int i = 0; i < count; ++i)
      infer(std::to_string(i));
  }

  int answered() const {
    return static_cast<int>(std::count_if(answers.begin(), answers.end(),
                                          [](const auto& one) { return !!one.second; }));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(placements_of_a_model, two_devices)

BOOST_AUTO_TEST_CASE(requests_are_spread_over_devices_that_are_not_known_yet) {
  start(row_by_row);
  infer_many(4);
  BOOST_TEST(work->waiting.size() == 2u);
  BOOST_TEST(second->waiting.size() == 2u);
  while (work_once() || second_once()) {
  }
  BOOST_TEST(answered() == 4);
}

BOOST_AUTO_TEST_CASE(one_that_arrives_together_with_others_is_sent_where_fewer_go) {
  start(latency);
  for (int i = 0; i < 6; ++i) // in the router's mailbox all at once
    hand_on(*shared, shared->router, make(std::to_string(i)));
  scheduler.run();
  work_once();
  second_once();
  BOOST_TEST(answered() == 2);
  while (work_once() || second_once()) {
  }
  std::int64_t rows = 0;
  for (const auto one : second->run_rows)
    rows += one;
  BOOST_TEST(rows >= 3); // padded up, perhaps
  BOOST_TEST(answered() == 6);
}

BOOST_AUTO_TEST_CASE(an_idle_placement_takes_over_what_waits_for_a_busy_one) {
  start(row_by_row);
  infer_many(8);
  BOOST_TEST(work->waiting.size() == 2u);
  BOOST_TEST(second->waiting.size() == 2u);
  int by_second = 0;
  while (second_once()) // the first is stuck in what it has
    ++by_second;
  BOOST_TEST(by_second == 6);
  BOOST_TEST(answered() == 6);
  while (work_once()) {
  }
  BOOST_TEST(answered() == 8);
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_device_that_died_runs_on_another) {
  parts.with.device_failures = 100; // until it is given up
  start(row_by_row);
  infer_many(8);
  work->failing_streams = 1000;
  work_once(lost);
  while (second_once()) {
  }
  BOOST_TEST(answered() == 6); // the two that the first device held try that again
  infer("late");
  BOOST_TEST(second->waiting.size() == 1u); // it is not sent where the device is down
  second_once();
  work->failing_streams = 0;
  pass(5s);
  while (work_once()) {
  }
  BOOST_TEST(answered() == 9);
}

BOOST_AUTO_TEST_CASE(a_device_that_comes_back_takes_its_part) {
  start(row_by_row);
  second->failing_streams = 1;
  infer("a");
  infer("b");
  infer("c");
  second_once(lost);
  pass(0ms);
  infer_many(6);
  BOOST_TEST(second->waiting.empty());
  pass(10ms);
  while (second_once() | work_once()) { // side by side
  }
  BOOST_TEST(answered() == 9);
  BOOST_TEST(second->run_rows.size() >= 4u); // "b" twice, and more
}

BOOST_AUTO_TEST_CASE(a_request_cancelled_on_its_way_to_another_batcher_is_answered_once) {
  start(row_by_row);
  infer_many(8);
  auto unwanted = shared->live->all();
  second->run_next();
  second->run_next(); // it has two more of its own, and then asks for others
  scheduler.run();
  second->run_next();
  second->run_next();
  for (const auto& one : unwanted)
    if (one->queued_at != 0)
      tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, one);
  unwanted.clear();
  scheduler.run();
  while (work_once() || second_once()) {
  }
  BOOST_TEST(answers.size() == 8u);
}

BOOST_AUTO_TEST_CASE(what_must_stay_in_order_is_not_taken_over) {
  auto rule = row_by_row;
  rule.preserve_ordering = true;
  start(rule);
  infer_many(8);
  int by_second = 0;
  while (second_once())
    ++by_second;
  BOOST_TEST(by_second == 4);
  while (work_once()) {
  }
  BOOST_TEST(answered() == 8);
}

BOOST_AUTO_TEST_CASE(a_model_runs_where_its_instances_are) {
  boot();
  load({.policy = row_by_row, .first_device_only = true});
  infer_many(4);
  BOOST_TEST(second->waiting.empty());
  while (work_once()) {
  }
  BOOST_TEST(answered() == 4);
}

BOOST_AUTO_TEST_CASE(a_batcher_that_is_killed_loses_nothing_that_is_sent_after) {
  start(row_by_row);
  const auto entry = infer("a")->where->entry;
  while (work_once() || second_once()) {
  }
  kill<batcher_actor>(entry);
  while (shared->stages->holds(entry))
    BOOST_REQUIRE(scheduler.try_run_once());
  infer("b");
  infer("c");
  BOOST_TEST(outcome("b") == "");
  while (work_once() || second_once()) {
  }
  BOOST_TEST(outcome("b") == "ok");
  BOOST_TEST(outcome("c") == "ok");
}

BOOST_AUTO_TEST_CASE(a_resource_that_all_devices_share_is_held_by_one_batch_at_a_time) {
  const placement::instance_terms needy{0, 1, {{"r", 0, 1}}};
  boot();
  load({.policy = row_by_row, .terms = {needy, needy}});
  infer_many(4);
  BOOST_TEST(work->waiting.size() + second->waiting.size() == 1u);
  for (int i = 0; i < 3; ++i) {
    if (!work_once())
      BOOST_TEST(second_once());
    BOOST_TEST(work->waiting.size() + second->waiting.size() == 1u);
  }
  if (!work_once())
    second_once();
  BOOST_TEST(answered() == 4);
  BOOST_TEST(shared->resources->available("r", 0) == 1);
}

BOOST_AUTO_TEST_CASE(a_device_that_dies_gives_back_the_resources_of_its_batches) {
  const placement::instance_terms needy{0, 1, {{"r", 0, 1}}};
  boot();
  load({.policy = row_by_row, .terms = {needy, needy}});
  infer_many(2);
  BOOST_TEST(work->waiting.size() == 1u);
  work->failing_streams = 1000;
  work_once(lost);
  second_once();
  BOOST_TEST(answered() == 1);
  work->failing_streams = 0;
  pass(5s);
  work_once();
  BOOST_TEST(answered() == 2);
  BOOST_TEST(shared->resources->available("r", 0) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(models_on_one_device, actor_fixture)

BOOST_AUTO_TEST_CASE(a_cheap_one_gets_as_much_time_as_a_heavy_one) {
  boot();
  load({.policy = row_by_row, .name = "heavy", .cost = 30ms});
  load({.policy = row_by_row, .name = "cheap", .cost = 1ms});
  const auto send = [this](const std::string& model, int count) {
    for (int i = 0; i < count; ++i)
      infer(model + std::to_string(i),
            [&](inference_request& request) { request.model_name = model; });
  };
  send("heavy", 20);
  send("cheap", 400);
  const auto began = clock->now();
  while (clock->now() < began + 400ms)
    BOOST_REQUIRE(work_once());
  int cheap = 0;
  int heavy = 0;
  for (const auto& [name, part] : answers)
    ++(name.starts_with("cheap") ? cheap : heavy);
  BOOST_TEST(cheap >= 150); // of 400 ms, half are 200
  BOOST_TEST(heavy >= 5);
  while (work_once()) {
  }
  BOOST_TEST(answers.size() == 420u);
}

BOOST_AUTO_TEST_CASE(no_more_batches_are_in_flight_than_there_are_instances) {
  boot();
  load({.policy = row_by_row, .terms = {{1, 1, {}}}});
  infer("a");
  infer("b");
  infer("c");
  BOOST_TEST(work->waiting.size() == 1u);
  work_once();
  BOOST_TEST(work->waiting.size() == 1u);
  work_once();
  work_once();
  BOOST_TEST(outcome("c") == "ok");
}

BOOST_AUTO_TEST_CASE(models_that_want_the_same_two_resources_take_turns) {
  boot();
  load({.policy = row_by_row, .name = "ab", .terms = {{0, 1, {{"a", 0, 1}, {"b", 0, 1}}}}});
  load({.policy = row_by_row, .name = "ba", .terms = {{0, 1, {{"b", 0, 1}, {"a", 0, 1}}}}});
  for (int i = 0; i < 6; ++i)
    infer(std::to_string(i),
          [&](inference_request& request) { request.model_name = i % 2 == 0 ? "ab" : "ba"; });
  for (int i = 0; i < 6; ++i) {
    BOOST_TEST(work->waiting.size() == 1u);
    work_once();
  }
  for (int i = 0; i < 6; ++i)
    BOOST_TEST(outcome(std::to_string(i)) == "ok");
}

BOOST_AUTO_TEST_SUITE_END()
