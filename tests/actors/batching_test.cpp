#include "tests/actors/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct rows_of_runs {
  const std::vector<std::int64_t>& seen;
  void are(std::vector<std::int64_t> expected) const {
    BOOST_TEST(seen == expected, boost::test_tools::per_element());
  }
};

struct adapting_fixture : actor_fixture {
  /// Runs sizes up to 8 once, each as long as that.
  void learn(const std::function<duration(std::int64_t rows)>& time) {
    duration next{0};
    work->while_running = [&] { scheduler.advance_time(next); };
    start(batching::policy{.adapts = true});
    for (const std::int64_t rows : {8, 4, 2, 1}) {
      next = time(rows);
      infer("warm " + std::to_string(rows), rows);
      work_once();
    }
    work->while_running = [this] { scheduler.advance_time(1ms); };
    work->run_rows.clear();
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(batching_of_requests, actor_fixture)

BOOST_AUTO_TEST_CASE(a_lone_request_is_run_at_once_with_the_latency_preset) {
  start(latency);
  infer("a");
  BOOST_TEST(work_once());
  BOOST_TEST(outcome("a") == "ok");
  const auto& answer = *answers.at("a");
  BOOST_TEST(answer.id == "a");
  BOOST_TEST(answer.outputs.at(0).name == "y");
  BOOST_TEST(elements_of<float>(answer.outputs[0].value.data)[1] == 1.0f);
}

BOOST_AUTO_TEST_CASE(a_lone_request_leaves_after_its_wait_with_no_other_arrival) {
  start(throughput);
  infer("a");
  pass(99ms);
  BOOST_TEST(work->waiting.empty());
  pass(1ms);
  BOOST_TEST(work_once());
  BOOST_TEST(outcome("a") == "ok");
}

BOOST_AUTO_TEST_CASE(thirty_two_rows_leave_at_once_with_the_throughput_preset) {
  start(throughput);
  for (int i = 0; i < 31; ++i)
    infer(std::to_string(i));
  BOOST_TEST(work->waiting.empty());
  infer("31");
  BOOST_TEST(work_once());
  rows_of_runs{work->run_rows}.are({32});
  for (int i = 0; i < 32; ++i)
    BOOST_TEST(outcome(std::to_string(i)) == "ok");
}

BOOST_AUTO_TEST_CASE(what_arrives_while_the_device_works_becomes_one_batch) {
  start(latency);
  infer("a", 1, 1);
  infer("b", 2, 2);
  infer("c", 1, 3);
  BOOST_TEST(work->waiting.size() == 1u);
  work_once();
  BOOST_TEST(outcome("a") == "ok");
  work_once();
  rows_of_runs{work->run_rows}.are({1, 4});
  BOOST_TEST(elements_of<float>(answers.at("b")->outputs[0].value.data)[3] == 2.0f);
  BOOST_TEST((answers.at("b")->outputs[0].value.dims == shape{2, 2}));
  BOOST_TEST(elements_of<float>(answers.at("c")->outputs[0].value.data)[0] == 3.0f);
}

BOOST_AUTO_TEST_CASE(who_asks_again_in_one_of_many_answers_need_not_wait_for_the_rest) {
  start(latency);
  infer("alone");
  for (const auto* name : {"a", "b", "c", "d", "e"})
    infer(name);
  work_once();
  BOOST_TEST(outcome("alone") == "ok");
  BOOST_TEST(answers_in_long_turns == 0);
  work_once();
  BOOST_TEST(outcome("e") == "ok");
  BOOST_TEST(answers_in_long_turns == 5);
}

BOOST_AUTO_TEST_CASE(a_full_batch_takes_the_second_ticket_and_never_a_third) {
  auto rule = latency;
  rule.max_rows = 2;
  start(rule, 2);
  for (const auto* name : {"a", "b", "c", "d", "e", "f"})
    infer(name);
  BOOST_TEST(work->waiting.size() == 2u); // [a] and the full [b, c]
  work_once();
  BOOST_TEST(work->waiting.size() == 2u); // [b, c] and [d, e]
  work_once();
  work_once();
  work_once();
  BOOST_TEST(outcome("f") == "ok");
}

BOOST_FIXTURE_TEST_CASE(where_batches_save_nothing_single_rows_take_the_second_ticket,
                        adapting_fixture) {
  learn([](std::int64_t rows) { return rows * 1ms; });
  for (const auto* name : {"a", "b", "c", "d"})
    infer(name);
  BOOST_TEST(work->waiting.size() == 2u);
  while (work_once()) {
  }
  rows_of_runs{work->run_rows}.are({1, 1, 1, 1});
}

BOOST_FIXTURE_TEST_CASE(where_batches_save_time_rows_gather_until_the_device_is_free,
                        adapting_fixture) {
  learn([](std::int64_t) { return 4ms; });
  for (const auto* name : {"a", "b", "c", "d"})
    infer(name);
  BOOST_TEST(work->waiting.size() == 1u);
  while (work_once()) {
  }
  rows_of_runs{work->run_rows}.are({1, 4}); // three of them, padded
}

BOOST_AUTO_TEST_CASE(rows_are_padded_up_to_the_bucket_and_cut_off_again) {
  start(latency);
  infer("a");
  infer("b", 3, 5);
  work_once();
  work_once();
  rows_of_runs{work->run_rows}.are({1, 4});
  BOOST_TEST((answers.at("b")->outputs[0].value.dims == shape{3, 2}));
}

BOOST_AUTO_TEST_CASE(until_its_plan_is_there_a_batch_runs_in_the_sizes_that_are_planned) {
  planned_up_to = 1;
  start(latency);
  infer("a");
  infer("b", 3, 5);
  work_once();
  work_once();
  rows_of_runs{work->run_rows}.are({1, 1, 1, 1});
  BOOST_TEST((answers.at("b")->outputs[0].value.dims == shape{3, 2}));
  BOOST_TEST(elements_of<float>(answers.at("b")->outputs[0].value.data)[5] == 5.0f);
  infer("c", 3);
  work_once();
  rows_of_runs{work->run_rows}.are({1, 1, 1, 1, 4});
}

BOOST_AUTO_TEST_CASE(without_any_plan_a_batch_waits_for_its_own) {
  planned_up_to = 0;
  start(latency);
  infer("a", 4);
  work_once();
  rows_of_runs{work->run_rows}.are({4});
  BOOST_TEST(outcome("a") == "ok");
}

BOOST_AUTO_TEST_CASE(a_full_queue_refuses_with_a_time_to_come_back) {
  start(latency, 8, 4);
  infer("running");
  for (const auto* name : {"a", "b", "c", "d"})
    infer(name);
  infer("e");
  BOOST_TEST(outcome("e") == "RESOURCE_EXHAUSTED");
  BOOST_TEST(answers.at("e").error().retry_after_ms > 0u);
  work_once();
  work_once();
  BOOST_TEST(outcome("d") == "ok");
}

BOOST_AUTO_TEST_CASE(a_higher_priority_goes_first) {
  auto rule = latency;
  rule.max_rows = 1;
  start(rule, 1);
  for (const auto* name : {"running", "ready", "low"})
    infer(name);
  infer("high", 1, 1, 60s, 1);
  work_once();
  work_once();
  work_once();
  BOOST_TEST(outcome("high") == "ok");
  BOOST_TEST(outcome("low") == "");
  work_once();
}

BOOST_AUTO_TEST_CASE(the_numbers_of_the_model_count_rows_and_batches) {
  start(latency);
  infer("a");
  infer("b", 2);
  work_once();
  work_once();
  const auto seen = statistics();
  BOOST_REQUIRE(seen.size() == 1u);
  BOOST_TEST(seen[0].inference_count == 3u);
  BOOST_TEST(seen[0].execution_count == 2u);
  BOOST_TEST(seen[0].success.count == 2u);
  BOOST_TEST(seen[0].batches.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
