// Devices that fail again and again, or say nothing more.

#include "tests/actors/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

const error gone{errc::unavailable, "the device is gone"};

struct health_fixture : actor_fixture {
  health_fixture() { parts.with.device_silence = 10s; }

  const placement::device_health& health(std::size_t index = 0) {
    return *shared->signs.at(index).health;
  }
  std::string state() {
    std::string found;
    query asked;
    asked.of = query::what::index;
    asked.index = [&](auto all) { found = all->at(0).state; };
    tell<catalog_actor>(*shared, shared->catalog, query_atom_v,
                        query_ptr{std::make_shared<query>(asked)});
    scheduler.run();
    return found;
  }
  /// Every run of the first device ends with its loss, until it is unfit.
  void wear_out() {
    for (int i = 0; i < 3 && health().fit(); ++i) {
      if (work->waiting.empty())
        infer("worn " + std::to_string(i));
      work_once(gone);
      pass(100ms);
    }
    BOOST_REQUIRE(!health().fit());
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(a_device_that_fails, health_fixture)

BOOST_AUTO_TEST_CASE(again_and_again_gets_no_work_until_it_passes_a_probe) {
  start(latency);
  BOOST_TEST(state() == "READY");
  wear_out();
  BOOST_TEST(state() == "UNAVAILABLE");
  infer("refused");
  BOOST_TEST(outcome("refused") == "UNAVAILABLE");
  BOOST_TEST(answers.at("refused").error().retry_after_ms > 0u);
  BOOST_REQUIRE(!work->waiting.empty()); // the probe
  const auto runs = work->run_rows.size();
  work_once(gone);
  BOOST_TEST(!health().fit());
  pass(5s); // its pauses grow
  work_once();
  BOOST_TEST(work->run_rows.size() == runs); // it runs no program
  BOOST_TEST(health().fit());
  BOOST_TEST(state() == "READY");
  infer("served");
  work_once();
  BOOST_TEST(outcome("served") == "ok");
}

BOOST_AUTO_TEST_CASE(now_and_then_stays_fit) {
  start(latency);
  for (int i = 0; i < 5; ++i) {
    infer("a" + std::to_string(i));
    work_once(gone);
    pass(5s);
    work_once(); // its second try
    BOOST_TEST(outcome("a" + std::to_string(i)) == "ok");
  }
  BOOST_TEST(health().fit());
  BOOST_TEST(health().failures() == 5u);
}

BOOST_AUTO_TEST_CASE(leaves_what_waits_to_another_device) {
  auto other = add_device();
  start(latency, 1);
  for (int i = 0; i < 3; ++i)
    infer("w" + std::to_string(i));
  wear_out();
  for (int i = 0; i < 6; ++i)
    infer("a" + std::to_string(i));
  BOOST_TEST(state() == "READY");
  while (other->run_next())
    scheduler.run();
  for (int i = 0; i < 6; ++i)
    BOOST_TEST(outcome("a" + std::to_string(i)) == "ok");
  for (int i = 0; i < 3; ++i)
    BOOST_TEST((outcome("w" + std::to_string(i)) == "ok"
                || outcome("w" + std::to_string(i)) == "UNAVAILABLE"
                || outcome("w" + std::to_string(i)) == "INTERNAL"));
}

BOOST_AUTO_TEST_CASE(does_not_keep_a_model_from_being_loaded) {
  add_device();
  start(latency);
  wear_out();
  unload();
  model_spec warmed{latency};
  const auto row = make("row");
  warmed.warm_up = {{row->request.inputs[0].value}};
  row->cancel();
  row->fail_with(errc::cancelled, "it was only looked at");
  bool loaded = false;
  order(warmed, [&](const result<void>& outcome) { loaded = outcome.has_value(); });
  scheduler.run();
  while (more[0]->work()->run_next())
    scheduler.run();
  BOOST_TEST(loaded);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(a_device_that_is_silent, health_fixture)

BOOST_AUTO_TEST_CASE(is_given_up_and_what_it_held_runs_elsewhere) {
  auto other = add_device();
  start(latency);
  infer("a", 1, 1, 600s);
  BOOST_REQUIRE(fall_silent(*work));
  const auto id = shared->signs[0].id;
  const auto before = shared->stages->get<device_actor>(id);
  pass(100s); // nothing ran yet: nobody knows how long it takes
  BOOST_TEST(!health().fit());
  pass(1s);
  BOOST_TEST((shared->stages->get<device_actor>(id) != before));
  while (other->run_next())
    scheduler.run();
  BOOST_TEST(outcome("a") == "ok");
  work_once(); // the probe
  BOOST_TEST(health().fit());
}

BOOST_AUTO_TEST_CASE(is_given_more_time_for_what_takes_long) {
  boot();
  model_spec slow{latency};
  slow.cost = 4s;
  load(slow);
  infer("a");
  work_once();
  infer("b");
  BOOST_REQUIRE(fall_silent(*work));
  pass(39s); // ten times what it took lately is more than the least
  BOOST_TEST(health().fit());
  pass(1s);
  BOOST_TEST(!health().fit());
  BOOST_TEST(outcome("b") == "UNAVAILABLE");
}

BOOST_AUTO_TEST_CASE(answers_for_whoever_has_nowhere_else_to_go) {
  start(latency);
  infer("a");
  work_once();
  infer("b");
  infer("waits");
  BOOST_REQUIRE(fall_silent(*work));
  pass(10s);
  BOOST_TEST(outcome("b") == "UNAVAILABLE");
  BOOST_TEST(outcome("waits") == "UNAVAILABLE");
  pass(1s);
  BOOST_REQUIRE(fall_silent(*work)); // the probe, too
  pass(10s);
  BOOST_TEST(!health().fit());
  pass(5s);
  work_once();
  BOOST_TEST(health().fit());
}

BOOST_AUTO_TEST_CASE(is_not_watched_while_it_has_nothing_to_do) {
  start(latency);
  infer("a");
  work_once();
  pass(1h);
  BOOST_TEST(!shared->signs[0].pulse->due());
  BOOST_TEST(health().fit());
}

BOOST_AUTO_TEST_SUITE_END()
