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

BOOST_AUTO_TEST_SUITE_END()
