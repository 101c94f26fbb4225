#include "tests/actors/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

const error broken{errc::internal, "broken on purpose"};
const error lost{errc::unavailable, "the device is gone"};

} // namespace

BOOST_FIXTURE_TEST_SUITE(failures, actor_fixture)

BOOST_AUTO_TEST_CASE(a_failed_batch_is_retried_member_by_member_once) {
  start(latency);
  infer("first");
  infer("good", 1, 1);
  infer("bad", 1, identity_run::poison);
  work_once();
  work_once(); // the batch of both fails
  BOOST_TEST(outcome("good") == "");
  work_once();
  BOOST_TEST(outcome("good") == "ok");
  work_once();
  BOOST_TEST(outcome("bad") == "INTERNAL");
  BOOST_TEST(!work_once());
}

BOOST_AUTO_TEST_CASE(a_second_failure_answers_internal) {
  start(latency);
  infer("a");
  work_once(broken);
  BOOST_TEST(outcome("a") == "");
  work_once(broken);
  BOOST_TEST(outcome("a") == "INTERNAL");
}

BOOST_AUTO_TEST_CASE(a_dead_device_comes_back_and_its_batch_runs_again) {
  start(latency);
  infer("a");
  infer("b");
  BOOST_TEST(work->streams_opened == 1);
  work_once(lost);
  pass(0ms);
  BOOST_TEST(work->streams_opened == 2);
  work_once();
  BOOST_TEST(outcome("a") == "ok");
  work_once();
  BOOST_TEST(outcome("b") == "ok");
}

BOOST_AUTO_TEST_CASE(a_device_that_dies_twice_of_one_request_spares_the_others) {
  start(latency);
  infer("a");
  work_once(lost);
  pass(0ms);
  work_once(lost);
  BOOST_TEST(outcome("a") == "INTERNAL");
  infer("b");
  pass(5s);
  BOOST_TEST(work->streams_opened == 3);
  work_once();
  BOOST_TEST(outcome("b") == "ok");
}

BOOST_AUTO_TEST_CASE(a_device_that_does_not_open_is_tried_again_with_growing_pauses) {
  parts.with.device_failures = 100; // until it is given up
  start(latency);
  work->failing_streams = 3;
  infer("a");
  work_once(lost);
  for (int i = 0; i < 10; ++i)
    pass(1s);
  BOOST_TEST(work->streams_opened == 5);
  work_once();
  BOOST_TEST(outcome("a") == "ok");
}

BOOST_AUTO_TEST_CASE(a_queued_request_past_its_deadline_leaves_at_once) {
  start(latency);
  infer("running");
  infer("late", 1, 1, 50ms);
  pass(50ms);
  BOOST_TEST(outcome("late") == "DEADLINE_EXCEEDED");
  work_once();
  BOOST_TEST(!work_once());
}

BOOST_AUTO_TEST_CASE(a_request_on_the_device_past_its_deadline_is_answered_once) {
  start(latency);
  infer("a", 1, 1, 50ms);
  pass(51ms);
  BOOST_TEST(outcome("a") == "DEADLINE_EXCEEDED");
  work_once(); // its result comes too late, and is not a second answer
  BOOST_TEST(outcome("a") == "DEADLINE_EXCEEDED");
}

BOOST_AUTO_TEST_CASE(a_cancelled_request_leaves_the_queue_and_is_answered_once) {
  start(latency);
  infer("running");
  auto unwanted = infer("unwanted");
  unwanted->cancel();
  tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, unwanted);
  scheduler.run();
  BOOST_TEST(outcome("unwanted") == "CANCELLED");
  unwanted.reset();
  work_once();
  BOOST_TEST(!work_once());
}

BOOST_AUTO_TEST_CASE(a_request_cancelled_on_the_device_is_not_run_again_when_that_fails) {
  start(latency);
  auto unwanted = infer("unwanted");
  tell<watchdog_actor>(*shared, shared->watchdog, cancel_atom_v, unwanted);
  scheduler.run();
  unwanted.reset();
  work_once(broken);
  BOOST_TEST(outcome("unwanted") == "CANCELLED");
  BOOST_TEST(!work_once());
}

BOOST_AUTO_TEST_CASE(a_stop_answers_what_is_queued_and_what_runs) {
  start(latency);
  infer("running");
  infer("queued");
  for (const auto& late : shared->live->all())
    late->fail_with(errc::unavailable, "stopping");
  world.stop();
  BOOST_TEST(outcome("running") == "UNAVAILABLE");
  BOOST_TEST(outcome("queued") == "UNAVAILABLE");
}

BOOST_AUTO_TEST_CASE(actors_that_end_answer_what_they_held) {
  start(latency);
  infer("running");
  infer("queued");
  world.stop();
  BOOST_TEST(outcome("running") == "INTERNAL");
  BOOST_TEST(outcome("queued") == "INTERNAL");
}

BOOST_AUTO_TEST_CASE(a_router_that_is_restarted_knows_its_models_again) {
  start(latency);
  kill<router_actor>(shared->router);
  scheduler.run();
  pass(0ms);
  infer("a");
  work_once();
  BOOST_TEST(outcome("a") == "ok");
}

BOOST_AUTO_TEST_CASE(a_request_that_finds_a_router_without_models_waits_for_them) {
  start(latency);
  kill<router_actor>(shared->router);
  scheduler.run();
  scheduler.advance_time(0ms); // the supervisor's turn to start it again
  while (!shared->stages->get<router_actor>(shared->router))
    BOOST_REQUIRE(scheduler.try_run_once());
  infer("a"); // in the mailbox before anything the catalog says
  work_once();
  BOOST_TEST(outcome("a") == "ok");
}

BOOST_AUTO_TEST_CASE(a_batch_that_waits_for_memory_outlives_the_one_that_keeps_its_books) {
  parts.with.device_memory_bytes = 4096 + 4096; // the weights, and one block
  start(latency, 1);
  two_outlive(memory);
  infer("c");
  work_once();
  BOOST_TEST(outcome("c") == "ok");
}

BOOST_AUTO_TEST_CASE(a_load_whose_storage_dies_is_told_so) {
  start(latency);
  kill<storage_actor>(shared->storages.front());
  auto asked = std::make_shared<load_request>();
  asked->name = "n";
  asked->load = [] { return result<std::vector<loaded_model>>{fail(errc::internal, "loaded")}; };
  std::optional<errc> code;
  asked->done = [&](const result<void>& outcome) { code = outcome.error().code; };
  tell<catalog_actor>(*shared, shared->catalog, load_atom_v, load_request_ptr{asked});
  scheduler.run(); // the order goes to a storage that is dead but still in the table
  BOOST_REQUIRE(code.has_value());
  BOOST_TEST((*code == errc::unavailable));
}

BOOST_AUTO_TEST_CASE(a_batch_does_not_wait_for_a_plan_that_died_with_its_storage) {
  planned_up_to = 0;
  start(latency);
  work->fatal_plans = 1;
  infer("a"); // tried again at once, while nobody makes plans
  BOOST_TEST(outcome("a") == "UNAVAILABLE");
  pass(0ms);
  infer("b");
  work_once();
  BOOST_TEST(outcome("b") == "ok");
}

BOOST_AUTO_TEST_CASE(a_batch_without_memory_for_its_run_fails_and_not_the_device) {
  start(latency);
  work->failing_runs = 2;
  infer("a");
  BOOST_TEST(outcome("a") == "RESOURCE_EXHAUSTED");
  infer("b");
  work_once();
  BOOST_TEST(outcome("b") == "ok");
  BOOST_TEST(work->streams_opened == 1);
}

BOOST_AUTO_TEST_CASE(a_batcher_that_is_restarted_while_its_model_is_unloaded_leaves) {
  start(latency);
  infer("a");
  const auto entry = shared->live->all().front()->where->entry;
  work_once();
  kill<batcher_actor>(entry);
  scheduler.run();
  BOOST_TEST(!shared->stages->get<batcher_actor>(entry));
  unload();
  pass(0ms);
  BOOST_TEST(!!shared->stages->get<batcher_actor>(entry));
  pass(1s);
  BOOST_TEST(!shared->stages->get<batcher_actor>(entry));
}

BOOST_AUTO_TEST_CASE(an_unload_ends_the_load_that_was_asked_for_before_it) {
  start(latency);
  auto again = std::make_shared<load_request>();
  again->name = "m";
  bool read = false;
  again->load = [&]() -> result<std::vector<loaded_model>> {
    read = true;
    return std::vector<loaded_model>{};
  };
  std::optional<errc> code;
  again->done = [&](const result<void>& outcome) {
    code = outcome ? std::nullopt : std::optional{outcome.error().code};
  };
  tell<catalog_actor>(*shared, shared->catalog, load_atom_v, load_request_ptr{again});
  unload();
  BOOST_TEST(read);
  BOOST_REQUIRE(code.has_value());
  BOOST_TEST((*code == errc::cancelled));
  infer("late");
  BOOST_TEST(outcome("late") == "NOT_FOUND");
}

BOOST_AUTO_TEST_CASE(run_states_do_not_keep_a_plan_that_its_cache_gave_up) {
  planned_up_to = 8;
  start(latency);
  const auto asked = infer("a");
  const auto runs = std::dynamic_pointer_cast<identity_executable>(asked->where->runs);
  std::weak_ptr<const placement::program> plan = runs->find(std::vector{shape{1, 2}});
  work_once();
  BOOST_TEST(!plan.expired());
  runs->forget(1, 2);
  infer("b", 16); // a plan that is not there yet: the device looks what is left of the others
  while (work_once()) {
  }
  BOOST_TEST(outcome("b") == "ok");
  BOOST_TEST(plan.expired());
}

BOOST_AUTO_TEST_CASE(an_unloaded_model_finishes_what_it_has) {
  start(latency);
  const auto entry = infer("a")->where->entry;
  unload();
  infer("b");
  BOOST_TEST(outcome("b") == "NOT_FOUND");
  work_once();
  BOOST_TEST(outcome("a") == "ok");
  const auto stands = [&] { return static_cast<bool>(shared->stages->get<batcher_actor>(entry)); };
  BOOST_TEST(stands()); // for those that were on their way
  pass(1s);
  BOOST_TEST(!stands());
}

BOOST_AUTO_TEST_CASE(weights_wait_for_blocks_that_the_device_keeps_or_works_on) {
  parts.with.device_memory_bytes = 4096 + 4096; // the weights and one block, or other weights
  start(latency, 1);
  infer("a");
  model_spec other;
  other.name = "n";
  std::optional<bool> loaded;
  order(other, [&](const result<void>& outcome) { loaded = outcome.has_value(); });
  scheduler.run();
  pass(100ms);
  BOOST_TEST(!loaded.has_value());
  work_once();
  BOOST_TEST(outcome("a") == "ok");
  pass(100ms); // the block that the device kept for the next batch is taken back
  BOOST_TEST((loaded == true));
}

BOOST_AUTO_TEST_CASE(weights_for_which_there_never_is_room_are_refused_in_the_end) {
  parts.with.device_memory_bytes = 4096 + 4096;
  start(latency, 1);
  infer("a");
  model_spec other;
  other.name = "n";
  std::optional<errc> code;
  order(other, [&](const result<void>& outcome) { code = outcome.error().code; });
  for (int i = 0; i < 60; ++i)
    pass(20ms);
  BOOST_TEST((code == errc::resource_exhausted));
  work_once();
  BOOST_TEST(outcome("a") == "ok");
}

BOOST_AUTO_TEST_CASE(a_batch_waits_for_memory_and_goes_on_when_there_is_some) {
  parts.with.device_memory_bytes = 4096 + 4096; // the weights, and one block
  start(latency, 1);
  infer("a");
  infer("b");
  BOOST_TEST(work->waiting.size() == 1u);
  work_once();
  work_once();
  BOOST_TEST(outcome("b") == "ok");
}

BOOST_AUTO_TEST_SUITE_END()
