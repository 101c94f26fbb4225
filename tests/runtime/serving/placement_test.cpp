#include "runtime/placement/routing.hpp"
#include "runtime/telemetry/histogram.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>

using namespace troupe;
using namespace troupe::placement;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(placement_routing)

BOOST_AUTO_TEST_CASE(a_profile_draws_lines_between_the_sizes_it_saw) {
  latency_profile profile;
  BOOST_TEST((profile.estimate(4) == 4ms));
  profile.record(2, 10ms);
  profile.record(4, 20ms);
  BOOST_TEST((profile.estimate(1) == 10ms));
  BOOST_TEST((profile.estimate(3) == 15ms));
  BOOST_TEST((profile.estimate(8) == 40ms));
  profile.record(4, 30ms);
  BOOST_TEST((profile.estimate(4) == 22ms));
}

BOOST_AUTO_TEST_CASE(one_run_during_which_the_machine_stood_still_says_little) {
  latency_profile profile;
  profile.record(1, 1ms);
  profile.record(1, 10s);
  BOOST_TEST((profile.estimate(1) < 3ms));
  for (int i = 0; i < 20; ++i)
    profile.record(1, 100ms);
  BOOST_TEST((profile.estimate(1) > 90ms)); // but what lasts is believed
}

BOOST_AUTO_TEST_CASE(a_size_that_lost_by_one_measurement_is_measured_again) {
  latency_profile profile;
  BOOST_TEST(!profile.measured(8).has_value());
  profile.record(8, 800ms); // the machine stood still
  BOOST_TEST((profile.measured(8) == 800ms));
  for (int i = 0; i < 2048; ++i)
    profile.record(4, 5ms);
  BOOST_TEST((profile.measured(8) == 800ms));
  profile.record(4, 5ms);
  BOOST_TEST(!profile.measured(8).has_value());
  profile.record(8, 6ms);
  BOOST_TEST((profile.measured(8) == 6ms));
  profile.record(8, 800ms);
  BOOST_TEST((profile.measured(8) == 6ms));
  profile.record(8, 800ms); // what lasts is believed
  BOOST_TEST((profile.measured(8) == 800ms));
}

BOOST_AUTO_TEST_CASE(each_shape_has_a_profile_and_one_not_seen_the_one_of_all) {
  shape_profiles profiles;
  profiles.record(16, 1, 10ms);
  profiles.record(512, 1, 60ms);
  BOOST_TEST((profiles.estimate(16, 1) == 10ms));
  BOOST_TEST((profiles.estimate(512, 1) == 60ms));
  BOOST_TEST((profiles.estimate(64, 1) == 20ms)); // the newest counts a fifth
  for (std::size_t shape = 1000; shape < 1064; ++shape)
    profiles.record(shape, 1, 30ms);
  BOOST_TEST((profiles.estimate(512, 1) != 60ms)); // the shapes that ran last are kept
}

BOOST_AUTO_TEST_CASE(a_request_goes_where_it_is_answered_first) {
  const time_point now{1h};
  load slow;
  load fast;
  slow.record_run(0, 1, 50ms, now);
  fast.record_run(0, 1, 10ms, now);
  const std::array<const load*, 2> both{&slow, &fast};
  BOOST_TEST(earliest(both, 0, 1, now) == 1u);
  fast.set_queued(9, 90ms);
  BOOST_TEST(earliest(both, 0, 1, now) == 0u);
  const auto expected = slow.batch_started(0, 2, now);
  BOOST_TEST((expected == 100ms));
  BOOST_TEST(earliest(both, 0, 1, now) == 1u);
  slow.batch_ended(expected, now);
  BOOST_TEST(earliest(both, 0, 1, now) == 0u);
  slow.set_up(false);
  BOOST_TEST(earliest(both, 0, 1, now) == 1u);
}

BOOST_AUTO_TEST_CASE(rows_on_their_way_count_before_they_are_there) {
  const time_point now{1h};
  const auto first = std::make_shared<load>();
  const auto second = std::make_shared<load>();
  first->record_run(0, 1, 10ms, now);
  second->record_run(0, 1, 12ms, now);
  const std::array<const load*, 2> both{first.get(), second.get()};
  BOOST_TEST(earliest(both, 0, 1, now) == 0u);
  heading going{first, 1};
  BOOST_TEST(earliest(both, 0, 1, now) == 1u);
  BOOST_TEST((first->estimated_completion_here(0, 1, now) == now + 10ms));
  going = {};
  BOOST_TEST(earliest(both, 0, 1, now) == 0u);
}

BOOST_AUTO_TEST_CASE(models_that_share_a_device_wait_for_each_other) {
  const time_point now{1h};
  const auto shared = std::make_shared<device_load>();
  load here{shared};
  load neighbour{shared};
  load elsewhere;
  here.record_run(0, 1, 10ms, now);
  elsewhere.record_run(0, 1, 30ms, now);
  neighbour.record_run(0, 1, 50ms, now);
  const std::array<const load*, 2> both{&here, &elsewhere};
  BOOST_TEST(earliest(both, 0, 1, now) == 0u);
  const auto expected = neighbour.batch_started(0, 1, now);
  BOOST_TEST((here.free_at(now) == now + 50ms));
  BOOST_TEST((here.estimated_completion_here(0, 1, now) == now + 10ms)); // it may go before
  BOOST_TEST(earliest(both, 0, 1, now) == 1u);
  BOOST_TEST(earliest(both, 0, 1, now + 35ms) == 0u);
  BOOST_TEST((here.free_at(now + 70ms) == now + 70ms)); // late, but never in the past
  neighbour.batch_ended(expected, now + 70ms);
  BOOST_TEST((here.free_at(now + 70ms) == now + 70ms));
}

BOOST_AUTO_TEST_CASE(a_batcher_that_begins_anew_gives_the_device_back_what_it_had_booked) {
  const time_point now{1h};
  const auto shared = std::make_shared<device_load>();
  load mine{shared};
  (void)mine.batch_started(0, 5, now);
  BOOST_TEST((shared->free_at(now) == now + 5ms));
  mine.restart(now);
  BOOST_TEST((shared->free_at(now) == now));
}

BOOST_AUTO_TEST_CASE(where_nothing_ran_yet_the_one_with_less_before_it_is_taken) {
  const time_point now{1h};
  load first;
  load second;
  const std::array<const load*, 2> both{&first, &second};
  BOOST_TEST(earliest(both, 0, 1, now) == 0u);
  first.set_queued(3, 3ms);
  BOOST_TEST(earliest(both, 0, 1, now) == 1u);
}

BOOST_AUTO_TEST_CASE(one_that_was_not_tried_lately_is_taken_to_be_as_fast_as_the_fastest) {
  const time_point now{1h};
  load known;
  load cold;
  known.record_run(0, 1, 10ms, now);
  const std::array<const load*, 2> both{&known, &cold};
  BOOST_TEST(earliest(both, 0, 1, now) == 0u); // equal: the first
  known.set_queued(1, 10ms);
  BOOST_TEST(earliest(both, 0, 1, now) == 1u);
  cold.set_queued(20, 20ms); // but not faster than that
  BOOST_TEST(earliest(both, 0, 1, now) == 0u);
  cold.set_queued(0, 0ms);
  cold.record_run(0, 1, 500ms, now); // a bad time
  BOOST_TEST(earliest(both, 0, 1, now) == 0u);
  known.record_run(0, 1, 10ms, now + 1min);
  BOOST_TEST(earliest(both, 0, 1, now + 1min) == 1u); // long ago
}

BOOST_AUTO_TEST_CASE(an_idle_placement_relieves_the_one_furthest_behind_if_that_helps) {
  const time_point now{1h};
  load idle;
  load behind;
  load further;
  for (auto* one : {&idle, &behind, &further})
    one->record_run(0, 1, 10ms, now);
  const std::array<const load*, 3> all{&idle, &behind, &further};
  BOOST_TEST(!to_relieve(all, 0, 8, now).has_value());
  behind.set_queued(1, 10ms);
  BOOST_TEST(!to_relieve(all, 0, 8, now).has_value()); // it is free, and begins by itself
  (void)behind.batch_started(0, 1, now);
  BOOST_TEST(*to_relieve(all, 0, 8, now) == 1u);
  further.set_queued(2, 20ms);
  (void)further.batch_started(0, 2, now);
  BOOST_TEST(*to_relieve(all, 0, 8, now) == 2u);
  behind.set_up(false);
  BOOST_TEST(*to_relieve(all, 0, 8, now) == 1u);
  idle.record_run(0, 1, 10s, now); // ten times as slow
  behind.set_queued(0, 0ms);
  BOOST_TEST(!to_relieve(all, 0, 8, now).has_value());
}

BOOST_AUTO_TEST_CASE(quantiles_are_right_to_an_eighth) {
  telemetry::histogram seen;
  BOOST_TEST(seen.quantile(0.5) == 0u);
  for (std::uint64_t value = 1; value <= 1000; ++value)
    seen.record(value);
  BOOST_TEST(seen.count() == 1000u);
  BOOST_TEST(seen.sum() == 500500u);
  for (const double q : {0.1, 0.5, 0.9, 0.99})
    BOOST_TEST(static_cast<double>(seen.quantile(q)) == 1000 * q,
               boost::test_tools::tolerance(0.13));
}

BOOST_AUTO_TEST_SUITE_END()
