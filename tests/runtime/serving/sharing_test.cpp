// How models share a device: turns by time, and resources.

#include "runtime/placement/fair_queue.hpp"
#include "runtime/placement/resource_pool.hpp"

#include <boost/test/unit_test.hpp>

#include <map>

using namespace troupe;
using namespace troupe::placement;
using namespace std::chrono_literals;

namespace {

struct shared_device {
  fair_queue<char> queue;

  /// Runs one item after the other, each flow always having two that wait; the time each flow got.
  std::map<char, duration> run(const std::map<char, duration>& flows, duration until) {
    std::map<char, duration> got;
    for (const auto& [name, cost] : flows)
      for (int i = 0; i < 2; ++i)
        queue.push(static_cast<std::uint32_t>(name), name, cost);
    for (duration now{0}; now < until;) {
      const auto next = *queue.pop([](char) { return true; });
      const auto cost = flows.at(next);
      queue.push(static_cast<std::uint32_t>(next), next, cost);
      queue.ended(static_cast<std::uint32_t>(next), cost, cost);
      got[next] += cost;
      now += cost;
    }
    return got;
  }
};

bool anything(char) {
  return true;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(turns_on_a_device, shared_device)

BOOST_AUTO_TEST_CASE(short_batches_get_as_much_time_as_long_ones) {
  auto got = run({{'l', 30ms}, {'s', 1ms}}, 10s);
  BOOST_TEST((got['l'] - got['s'] <= 60ms));
  BOOST_TEST((got['s'] - got['l'] <= 60ms));
}

BOOST_AUTO_TEST_CASE(three_flows_get_a_third_each) {
  auto got = run({{'a', 7ms}, {'b', 2ms}, {'c', 20ms}}, 10s);
  for (const auto& [name, time] : got) {
    BOOST_TEST((time > 3300ms));
    BOOST_TEST((time < 3400ms));
  }
}

BOOST_AUTO_TEST_CASE(a_flow_alone_is_served_in_order) {
  for (const char name : {'a', 'b', 'c'})
    queue.push(1, name, 5ms);
  std::string order;
  while (const auto next = queue.pop(anything))
    order += *next;
  BOOST_TEST(order == "abc");
  BOOST_TEST(queue.empty());
}

BOOST_AUTO_TEST_CASE(a_flow_of_half_the_share_gets_half_the_time) {
  std::map<char, int> ran;
  queue.push(1, 'f', 1ms, 1);
  queue.push(2, 'h', 1ms, 0.5);
  for (int i = 0; i < 300; ++i) {
    const auto next = *queue.pop(anything);
    ++ran[next];
    queue.push(next == 'f' ? 1 : 2, next, 1ms, next == 'f' ? 1 : 0.5);
    queue.ended(next == 'f' ? 1 : 2, 1ms, 1ms);
  }
  BOOST_TEST(ran['f'] >= 199);
  BOOST_TEST(ran['f'] <= 201);
}

BOOST_AUTO_TEST_CASE(who_took_longer_than_expected_pays_for_it) {
  queue.push(1, 'l', 1ms); // takes 50 ms, as it turns out
  queue.push(1, 'l', 1ms);
  queue.push(2, 's', 1ms);
  BOOST_TEST(*queue.pop(anything) == 'l');
  queue.ended(1, 1ms, 50ms);
  for (int i = 0; i < 40; ++i) {
    BOOST_TEST(*queue.pop(anything) == 's');
    queue.push(2, 's', 1ms);
    queue.ended(2, 1ms, 1ms);
  }
}

BOOST_AUTO_TEST_CASE(who_was_away_has_saved_nothing_up) {
  for (int i = 0; i < 100; ++i) {
    queue.push(1, 'a', 10ms);
    BOOST_TEST(*queue.pop(anything) == 'a');
    queue.ended(1, 10ms, 10ms);
  }
  BOOST_TEST(queue.flows() == 0u);
  auto got = run({{'a', 10ms}, {'b', 10ms}}, 1s);
  BOOST_TEST((got['a'] == got['b']));
}

BOOST_AUTO_TEST_CASE(one_that_may_not_run_yet_is_passed_over_and_keeps_its_place) {
  queue.push(1, 'a', 1ms);
  queue.push(1, 'b', 1ms);
  queue.push(2, 'c', 1ms);
  BOOST_TEST(*queue.pop([](char name) { return name != 'a'; }) == 'c');
  BOOST_TEST(!queue.pop([](char name) { return name != 'a'; }).has_value());
  BOOST_TEST(*queue.pop(anything) == 'a');
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct pool_fixture {
  std::unique_ptr<resource_claim> claim(std::vector<resource_need> needs) {
    for (const auto& one : needs)
      pool.provide({one.name, one.scope, one.count});
    return std::make_unique<resource_claim>(pool, std::move(needs), [this] { ++woken; });
  }

  resource_pool pool;
  int woken = 0;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(resources, pool_fixture)

BOOST_AUTO_TEST_CASE(there_is_as_much_as_the_neediest_model_wants) {
  auto one = claim({{"r", 0, 1}});
  auto two = claim({{"r", 0, 2}});
  BOOST_TEST(pool.available("r", 0) == 2);
  BOOST_TEST(one->take());
  BOOST_TEST(one->take()); // asking again takes no more
  BOOST_TEST(pool.available("r", 0) == 1);
  BOOST_TEST(!two->take());
  one.reset();
  BOOST_TEST(woken == 1);
  BOOST_TEST(two->take());
}

BOOST_AUTO_TEST_CASE(devices_have_their_own_unless_it_is_one_for_all) {
  auto here = claim({{"r", 1, 1}});
  auto there = claim({{"r", 2, 1}});
  BOOST_TEST(here->take());
  BOOST_TEST(there->take());
}

BOOST_AUTO_TEST_CASE(two_that_want_the_same_pair_in_either_order_do_not_block_each_other) {
  auto first = claim({{"a", 0, 1}, {"b", 0, 1}});
  auto second = claim({{"b", 0, 1}, {"a", 0, 1}});
  BOOST_TEST(first->take());
  BOOST_TEST(!second->take());
  BOOST_TEST(pool.available("a", 0) == 0); // of the first; the second holds nothing
  first.reset();
  BOOST_TEST(second->take());
}

BOOST_AUTO_TEST_CASE(one_that_wants_much_is_not_overtaken_for_ever) {
  auto running = claim({{"r", 0, 1}});
  auto large = claim({{"r", 0, 3}});
  auto small = claim({{"r", 0, 1}});
  auto other = claim({{"s", 0, 1}});
  BOOST_TEST(running->take());
  BOOST_TEST(!large->take());
  BOOST_TEST(!small->take()); // there are two left, but the large one was first
  BOOST_TEST(other->take());
  running.reset();
  BOOST_TEST(large->take());
  large.reset();
  BOOST_TEST(small->take());
}

BOOST_AUTO_TEST_CASE(who_gives_up_waiting_lets_the_others_on) {
  auto running = claim({{"r", 0, 2}});
  auto large = claim({{"r", 0, 3}});
  auto small = claim({{"r", 0, 1}});
  BOOST_TEST(running->take());
  BOOST_TEST(!large->take());
  BOOST_TEST(!small->take());
  large.reset();
  BOOST_TEST(woken == 1);
  BOOST_TEST(small->take());
}

BOOST_AUTO_TEST_SUITE_END()
