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

} // namespace

BOOST_FIXTURE_TEST_SUITE(queueing, actor_fixture)

BOOST_AUTO_TEST_CASE(a_request_that_waits_longer_than_its_policy_allows_is_rejected) {
  priorities.standard.timeout = 20ms;
  start(latency);
  infer("running");
  infer("waiting");
  pass(19ms);
  BOOST_TEST(outcome("waiting") == "");
  pass(1ms);
  BOOST_TEST(outcome("waiting") == "UNAVAILABLE");
  BOOST_TEST(answers.at("waiting").error().text
             == "model m: still in the queue after 20.0 ms, the limit");
  work_once();
  BOOST_TEST(outcome("running") == "ok");
}

BOOST_AUTO_TEST_CASE(where_the_policy_says_delay_it_is_served_after_all_others) {
  priorities.levels = 2;
  priorities.by_level[1].timeout = 20ms;
  priorities.by_level[1].action = batching::queue_policy::overdue::delay;
  start(row_by_row);
  infer("running");
  infer("also running");
  infer("overdue", 1, 1, 60s, 1);
  pass(20ms);
  infer("later", 1, 1, 60s, 2);
  work_once();
  work_once();
  BOOST_TEST(outcome("overdue") == "");
  work_once();
  BOOST_TEST(outcome("later") == "ok");
  BOOST_TEST(outcome("overdue") == "");
  work_once();
  BOOST_TEST(outcome("overdue") == "ok");
}

BOOST_AUTO_TEST_CASE(the_queue_of_a_priority_has_a_bound_of_its_own) {
  priorities.levels = 2;
  priorities.by_level[1].max_requests = 1;
  start(row_by_row);
  infer("running");
  infer("also running");
  infer("first", 1, 1, 60s, 1);
  infer("second", 1, 1, 60s, 1);
  infer("low", 1, 1, 60s, 2);
  BOOST_TEST(outcome("second") == "RESOURCE_EXHAUSTED");
  BOOST_TEST(answers.at("second").error().text.find("1 requests of priority 1 wait")
             != std::string::npos);
  while (work_once()) {
  }
  BOOST_TEST(outcome("first") == "ok");
  BOOST_TEST(outcome("low") == "ok");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_in_time_is_refused_at_once) {
  start(latency);
  infer("known");
  work_once(); // takes 30 ms: from now on that is what a row takes
  infer("hopeless", 1, 1, 29ms);
  BOOST_TEST(outcome("hopeless") == "DEADLINE_EXCEEDED");
  BOOST_TEST(answers.at("hopeless").error().text
             == "model m: the deadline cannot be kept: the answer is expected in 30.0 ms, 29.0 ms "
                "are left");
  BOOST_TEST(answers.at("hopeless").error().retry_after_ms > 0u);
  infer("in time", 1, 1, 40ms);
  work_once();
  BOOST_TEST(outcome("in time") == "ok");
}

BOOST_AUTO_TEST_CASE(an_urgent_request_is_not_refused_for_those_that_it_goes_before) {
  start(row_by_row);
  infer("known");
  work_once();
  infer("running");
  infer("also running");
  for (int i = 0; i < 10; ++i)
    infer("waiting " + std::to_string(i));
  infer("urgent", 1, 1, 150ms);
  BOOST_TEST(outcome("urgent") == "");
  work_once();
  work_once();
  work_once();
  BOOST_TEST(outcome("urgent") == "ok");
  while (work_once()) {
  }
}

BOOST_AUTO_TEST_CASE(where_it_may_a_request_says_how_long_it_waits) {
  priorities.standard.timeout = 50ms;
  priorities.standard.allow_override = true;
  start(latency);
  infer("running");
  const auto with_timeout = [this](const std::string& name, duration timeout) {
    auto asked = make(name, 1, 1, timeout);
    asked->request.deadline = clock->now() + timeout;
    hand_on(*shared, shared->router, asked);
    scheduler.run();
  };
  with_timeout("short", 20ms);
  with_timeout("long", 80ms); // no longer than the policy's
  pass(20ms);
  BOOST_TEST(outcome("short") == "UNAVAILABLE");
  pass(30ms);
  BOOST_TEST(outcome("long") == "UNAVAILABLE");
  with_timeout("soon", 40ms);
  work_once(); // takes 30 ms
  pass(20ms);
  BOOST_TEST(outcome("soon") == ""); // it is on the device: its time was for the queue
  work_once();
  BOOST_TEST(outcome("soon") == "ok");
}

BOOST_AUTO_TEST_CASE(time_in_the_queue_is_over_also_while_failed_batches_run_again) {
  priorities.standard.timeout = 20ms;
  start(latency);
  infer("a");
  infer("b");
  work->while_running = {}; // no time passes on the device
  work_once();
  infer("c");
  work_once({{errc::internal, "broken on purpose"}}); // b, then c have the device to themselves
  infer("waiting");
  pass(20ms);
  BOOST_TEST(outcome("waiting") == "UNAVAILABLE");
  while (work_once()) {
  }
}

BOOST_AUTO_TEST_CASE(a_batch_that_found_no_memory_makes_the_next_ones_smaller) {
  start(latency, 8);
  infer("first");
  for (int i = 0; i < 8; ++i)
    infer(std::to_string(i));
  work_once();
  work_once({{errc::resource_exhausted, "the device has no memory left"}});
  for (int i = 0; i < 8; ++i) // each alone
    work_once();
  BOOST_TEST(outcome("7") == "ok");
  work->run_rows.clear();
  infer("running");
  for (int i = 10; i < 18; ++i)
    infer(std::to_string(i));
  while (work_once()) {
  }
  BOOST_TEST(outcome("17") == "ok");
  for (const auto rows : work->run_rows)
    BOOST_TEST(rows <= 8);
  BOOST_TEST(work->run_rows.at(1) == 4);
}

BOOST_AUTO_TEST_SUITE_END()
