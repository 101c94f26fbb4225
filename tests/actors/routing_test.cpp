#include "tests/actors/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

auto of_version(const std::string& version) {
  return [version](inference_request& request) { request.model_version = version; };
}

struct routing_fixture : actor_fixture {
  /// Sends a request, lets everything run, and says which version answered: or the error's code.
  std::string served_by(const std::function<void(inference_request&)>& change = {}) {
    const auto name = "asked " + std::to_string(++asked);
    if (change)
      infer(name, change);
    else
      infer(name);
    while (work_once()) {
    }
    return outcome(name) == "ok" ? answers.at(name)->model_version : outcome(name);
  }

  /// A request that is routed by now, to the version served now, and not there yet.
  std::shared_ptr<job::impl> on_its_way(const std::string& name) {
    auto late = make(name);
    const auto earlier = infer("earlier");
    late->resolve(earlier->model);
    late->where = earlier->where;
    return late;
  }

  int asked = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(routing_to_versions, routing_fixture)

BOOST_AUTO_TEST_CASE(a_version_is_found_by_its_number_and_by_its_labels) {
  boot();
  load({.policy = latency,
        .versions = {"3", "4"},
        .rules = {.labels = {{"stable", "3"}, {"canary", "4"}}, .split = {}}});
  BOOST_TEST(served_by(of_version("3")) == "3");
  BOOST_TEST(served_by(of_version("canary")) == "4");
  BOOST_TEST(served_by([](auto& request) { request.parameters["version_label"] = "stable"; })
             == "3");
  BOOST_TEST(served_by() == "4");
  BOOST_TEST(served_by(of_version("old")) == "NOT_FOUND");
  BOOST_TEST(answers.at("asked 5").error().text == "model m: no version old; served are: 3, 4");
}

BOOST_AUTO_TEST_CASE(requests_that_ask_for_no_version_are_spread_by_the_split) {
  boot();
  load({.policy = latency,
        .versions = {"3", "4"},
        .rules = {.labels = {}, .split = {{"3", 3}, {"4", 1}}}});
  std::map<std::string, int> served;
  for (int i = 0; i < 8; ++i)
    ++served[served_by()];
  BOOST_TEST(served["3"] == 6);
  BOOST_TEST(served["4"] == 2);
}

BOOST_AUTO_TEST_CASE(a_new_load_takes_the_place_of_all_versions_at_once) {
  boot();
  load({.policy = latency, .versions = {"1", "2"}});
  BOOST_TEST(served_by() == "2");
  load({.policy = latency, .versions = {"3"}});
  BOOST_TEST(served_by() == "3");
  BOOST_TEST(served_by(of_version("1")) == "NOT_FOUND");
}

BOOST_AUTO_TEST_CASE(a_request_on_its_way_to_a_version_that_has_left_goes_to_the_next) {
  boot();
  load({.policy = latency, .versions = {"1"}});
  const auto late = on_its_way("late");
  work_once();
  load({.policy = latency, .versions = {"2"}});
  pass(1s);
  hand_on(*shared, late->where->entry, late);
  scheduler.run();
  work_once();
  BOOST_REQUIRE(outcome("late") == "ok");
  BOOST_TEST(answers.at("late")->model_version == "2");
}

BOOST_AUTO_TEST_CASE(one_in_the_mailbox_of_a_batcher_that_leaves_goes_to_the_next) {
  boot();
  load({.policy = latency, .versions = {"1"}});
  const auto late = on_its_way("late");
  work_once();
  const auto old = shared->stages->get<batcher_actor>(late->where->entry);
  load({.policy = latency, .versions = {"2"}});
  scheduler.advance_time(1s); // it is told to leave, and has not looked yet
  caf::anon_send(old, submit_atom_v, late);
  scheduler.run();
  pass(1s);
  work_once();
  BOOST_TEST(outcome("late") == "ok");
}

BOOST_AUTO_TEST_CASE(where_no_version_is_left_a_request_on_its_way_hears_unavailable) {
  boot();
  load({.policy = latency, .versions = {"1"}});
  const auto late = on_its_way("late");
  work_once();
  unload();
  pass(1s);
  hand_on(*shared, late->where->entry, late);
  scheduler.run();
  BOOST_TEST(outcome("late") == "UNAVAILABLE");
  BOOST_TEST(answers.at("late").error().retry_after_ms > 0u);
}

BOOST_AUTO_TEST_CASE(a_request_that_dies_in_the_mailbox_of_a_batcher_hears_unavailable) {
  start(latency);
  const auto entry = infer("earlier")->where->entry;
  work_once();
  kill<batcher_actor>(entry);
  infer("late"); // behind the kill
  BOOST_TEST(outcome("late") == "UNAVAILABLE");
}

BOOST_AUTO_TEST_SUITE_END()
