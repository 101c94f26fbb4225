// The scheduler's policy on threads of its own: who is woken runs, wherever.

#include "actors/worker_policy.hpp"

#include <boost/test/unit_test.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <atomic>
#include <future>
#include <set> // for the header below
#include <thread>
#include <vector>

#include <caf/scheduler/coordinator.hpp>

using namespace troupe::actors;

namespace {

struct scheduled {
  explicit scheduled(int threads) : system(configured(config, threads)) {}

  static caf::actor_system_config& configured(caf::actor_system_config& config, int threads) {
    config.load<caf::scheduler::coordinator<worker_policy>>();
    config.set("scheduler.max-threads", threads);
    config.set("scheduler.max-throughput", 4);
    return config;
  }

  /// An actor that calls `work(self, number)` for each number it is sent.
  template <class Work>
  caf::actor spawn(Work work) {
    return system.spawn([work](caf::event_based_actor* self) -> caf::behavior {
      return {[=](int number) { work(self, number); }};
    });
  }

  caf::actor_system_config config;
  caf::actor_system system;
};

} // namespace

BOOST_AUTO_TEST_SUITE(worker_policy_of_the_scheduler)

BOOST_AUTO_TEST_CASE(every_message_of_many_threads_arrives) {
  constexpr int senders = 3;
  constexpr int messages = 2000;
  constexpr int hops = 3;
  std::atomic<int> arrived{0};
  std::promise<void> all;
  {
    scheduled on{2};
    auto end = on.spawn([&](caf::event_based_actor*, int) {
      if (++arrived == senders * messages * 2)
        all.set_value();
    });
    std::vector<caf::actor> first;
    for (int i = 0; i < senders; ++i) {
      auto next = end;
      for (int hop = 0; hop < hops; ++hop) // the last of a chain has two to wake
        next = on.spawn([next, end, hop](caf::event_based_actor*, int number) {
          caf::anon_send(next, number);
          if (hop == hops - 1)
            caf::anon_send(end, number);
        });
      first.push_back(next);
    }
    std::vector<std::thread> threads;
    for (const auto& to : first)
      threads.emplace_back([to] {
        for (int i = 0; i < messages; ++i)
          caf::anon_send(to, i);
      });
    for (auto& one : threads)
      one.join();
    all.get_future().wait();
  }
  BOOST_TEST(arrived == senders * messages * 2);
}

BOOST_AUTO_TEST_CASE(whom_a_long_turn_wakes_does_not_wait_for_its_end) {
  std::promise<int> woken;
  std::promise<int> through;
  scheduled on{2};
  auto second = on.spawn([&](caf::event_based_actor*, int number) { woken.set_value(number); });
  auto first = on.spawn([&](caf::event_based_actor*, int number) {
    const long_turn rude;
    caf::anon_send(second, number);
    through.set_value(woken.get_future().get());
  });
  caf::anon_send(first, 1);
  BOOST_TEST(through.get_future().get() == 1);
}

BOOST_AUTO_TEST_CASE(two_that_wake_each_other_keep_nobody_from_a_single_thread) {
  std::atomic<bool> heard{false};
  std::promise<int> over;
  scheduled on{1};
  caf::actor other;
  auto ping = on.spawn([&](caf::event_based_actor*, int number) {
    if (heard)
      over.set_value(number);
    else
      caf::anon_send(other, number + 1);
  });
  other = on.spawn([&](caf::event_based_actor*, int number) { caf::anon_send(ping, number + 1); });
  caf::anon_send(ping, 1);
  auto third = on.spawn([&](caf::event_based_actor*, int) { heard = true; });
  caf::anon_send(third, 1);
  BOOST_TEST(over.get_future().get() >= 1);
  other = nullptr;
}

BOOST_AUTO_TEST_SUITE_END()
