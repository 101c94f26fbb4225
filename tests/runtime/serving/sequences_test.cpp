#include "runtime/sequences/table.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

using namespace troupe;
using namespace troupe::sequences;
using namespace std::chrono_literals;

namespace {

// Jobs are names, states are numbers.
struct table_fixture {
  using block = std::shared_ptr<int>;
  using sequences_table = table<std::string, block>;

  std::shared_ptr<homes> places = std::make_shared<homes>();
  sequences_table steps{{.slots = 2, .max_idle = 1s, .needs_memory = false}};
  time_point now = time_point{} + 1h;
  std::map<sequence_id, std::uint64_t> generations;

  bool start(const sequence_id& id, const std::string& job, bool end = false) {
    auto [home, hold] = places->enter(id, 0);
    generations[id] = home.generation;
    return add(id, {job, home.generation, true, end, std::move(hold)});
  }
  bool step(const sequence_id& id, const std::string& job, bool end = false) {
    return add(id, {job, generations[id], false, end});
  }
  bool add(const sequence_id& id, sequences_table::step one) {
    auto added = steps.add(id, std::move(one), now);
    why = added ? "" : added.error().text;
    return added.has_value();
  }
  void ran(const sequence_id& id, bool well = true) { steps.ended(id, generations[id], well, now); }
  std::string due() {
    std::string all;
    for (const auto& one : steps.take_due())
      all += one.job + " ";
    return all;
  }
  std::string dropped() {
    std::string all;
    for (const auto& one : steps.take_dropped())
      all += one.job + " ";
    return all;
  }

  std::string why;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(sequences_of_a_placement, table_fixture)

BOOST_AUTO_TEST_CASE(run_one_step_at_a_time_each_and_together) {
  BOOST_TEST(start(1, "a1"));
  BOOST_TEST(start("x", "b1"));
  BOOST_TEST(step(1, "a2"));
  BOOST_TEST(due() == "a1 b1 ");
  ran("x");
  BOOST_TEST(step("x", "b2", true));
  BOOST_TEST(due() == "b2 ");
  ran(1);
  BOOST_TEST(due() == "a2 ");
  BOOST_TEST(!step("x", "b3"));
  BOOST_TEST(why == "sequence \"x\" has had its last step");
  ran("x");
  BOOST_TEST(places->size() == 1u);
  BOOST_TEST(steps.size() == 1u);
}

BOOST_AUTO_TEST_CASE(need_a_start) {
  BOOST_TEST(!step(1, "a1"));
  BOOST_TEST(why.find("sequence 1 is not live here") == 0u);
  BOOST_TEST(start(1, "a1", true));
  ran(1);
  BOOST_TEST(!step(1, "a2"));
  BOOST_TEST(places->size() == 0u);
}

BOOST_AUTO_TEST_CASE(wait_for_a_slot_in_the_order_in_which_they_came) {
  start(1, "a1");
  start(2, "b1");
  start(3, "c1");
  start(4, "d1");
  step(3, "c2");
  BOOST_TEST(due() == "a1 b1 ");
  BOOST_TEST(steps.waiting() == 3u);
  ran(2);
  BOOST_TEST(due() == "");
  step(2, "b2", true);
  ran(2);
  BOOST_TEST(due() == "b2 c1 ");
  ran(3);
  BOOST_TEST(due() == "c2 ");
  now += 1s;
  ran(1);
  now += 999ms;
  BOOST_TEST((steps.expire(now) == now + 1ms));
  BOOST_TEST(due() == "");
  now += 1ms;
  (void)steps.expire(now);
  BOOST_TEST(due() == "d1 "); // whose slot was the idle one's
  BOOST_TEST(!places->find(1));
}

BOOST_AUTO_TEST_CASE(end_with_a_step_that_fails) {
  start(1, "a1");
  step(1, "a2");
  step(1, "a3");
  due();
  ran(1, false);
  BOOST_TEST(due() == "");
  BOOST_TEST(dropped() == "a2 a3 ");
  BOOST_TEST(!places->find(1));
  BOOST_TEST(!step(1, "a4"));
  BOOST_TEST(start(1, "b1"));
  BOOST_TEST(due() == "b1 ");
  BOOST_TEST(steps.waiting() == 0u);
}

BOOST_AUTO_TEST_CASE(end_with_a_step_that_is_withdrawn) {
  start(1, "a1");
  step(1, "a2");
  step(1, "a3");
  start(1, "b1");
  step(1, "b2");
  due();
  steps.withdraw(1, "a3");
  BOOST_TEST(dropped() == "a2 ");
  BOOST_TEST(due() == "b1 "); // with a state of its own
  steps.withdraw(1, "b2");
  BOOST_TEST(steps.empty());
  BOOST_TEST(places->size() == 0u);
}

BOOST_AUTO_TEST_CASE(go_on_if_one_behind_them_is_withdrawn) {
  start(1, "a1");
  const auto first = generations[1];
  start(1, "b1");
  step(1, "b2");
  due();
  steps.withdraw(1, "b1");
  BOOST_TEST(dropped() == "b2 ");
  BOOST_TEST(steps.size() == 1u);
  steps.ended(1, first, true, now);
  BOOST_TEST(due() == "");
  BOOST_TEST(!step(1, "b3"));
}

BOOST_AUTO_TEST_CASE(are_lost_with_a_step_that_never_came) {
  start(1, "a1");
  step(1, "a2");
  due();
  steps.abandon(1, generations[1] + 1);
  BOOST_TEST(steps.size() == 1u);
  steps.abandon(1, generations[1]);
  BOOST_TEST(dropped() == "a2 ");
  BOOST_TEST(steps.empty());
}

BOOST_AUTO_TEST_CASE(give_way_to_a_start_under_their_id) {
  start(1, "a1");
  step(1, "a2");
  start(1, "b1");
  BOOST_TEST(due() == "a1 ");
  const auto second = generations[1];
  steps.ended(1, second - 1, true, now);
  BOOST_TEST(due() == "a2 ");
  steps.ended(1, second - 1, true, now);
  BOOST_TEST(due() == "b1 ");
  steps.ended(1, second - 1, false, now); // a late word of the former
  BOOST_TEST(step(1, "b2"));
  BOOST_TEST(places->find(1)->generation == second);
}

BOOST_AUTO_TEST_CASE(keep_their_memory_from_start_to_end) {
  steps = sequences_table{{.slots = 2, .max_idle = 1s, .needs_memory = true}};
  start(1, "a1");
  start(2, "b1");
  auto wishes = steps.take_wishes();
  BOOST_TEST(wishes.size() == 2u);
  BOOST_TEST(due() == "");
  auto state = std::make_shared<int>(0);
  steps.lend(wishes.at(0), state);
  const auto first = steps.take_due();
  BOOST_TEST(first.at(0).memory == state);
  steps.refuse(wishes.at(1), {errc::resource_exhausted, "none left"});
  const auto refused = steps.take_dropped();
  BOOST_TEST(refused.at(0).job == "b1");
  BOOST_TEST((refused.at(0).why.code == errc::resource_exhausted));
  BOOST_TEST(!places->find(2));
  step(1, "a2", true);
  ran(1);
  BOOST_TEST(steps.take_due().at(0).memory == state);
  ran(1);
  BOOST_TEST(state.use_count() == 2); // `first` and ours
  start(2, "c1");
  steps.withdraw(2, "c1");
  BOOST_TEST(steps.empty());
  steps.lend(steps.take_wishes().at(0), state); // too late
  BOOST_TEST(state.use_count() == 2);
}

BOOST_AUTO_TEST_CASE(that_have_begun_are_lost_together) {
  start(1, "a1");
  start(2, "b1");
  start(3, "c1");
  due();
  ran(1);
  steps.lose_all();
  BOOST_TEST(due() == "c1 ");
  BOOST_TEST(!places->find(1));
  BOOST_TEST(!places->find(2));
  BOOST_TEST(places->size_at(0) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
