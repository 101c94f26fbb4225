#include "runtime/placement/routing.hpp"
#include "runtime/telemetry/histogram.hpp"

#include <boost/test/unit_test.hpp>

#include <array>

using namespace troupe;
using namespace troupe::placement;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(placement_routing)

BOOST_AUTO_TEST_CASE(a_profile_draws_lines_between_the_sizes_it_saw) {
  latency_profile profile;
  BOOST_TEST((profile.estimate(4) == 1ms));
  profile.record(2, 10ms);
  profile.record(4, 20ms);
  BOOST_TEST((profile.estimate(1) == 10ms));
  BOOST_TEST((profile.estimate(3) == 15ms));
  BOOST_TEST((profile.estimate(8) == 40ms));
  profile.record(4, 30ms);
  BOOST_TEST((profile.estimate(4) == 22ms));
}

BOOST_AUTO_TEST_CASE(a_request_goes_where_it_is_answered_first) {
  const time_point now{1h};
  load slow;
  load fast;
  slow.record_run(1, 50ms);
  fast.record_run(1, 10ms);
  const std::array<const load*, 2> both{&slow, &fast};
  BOOST_TEST(earliest(both, 1, now) == 1u);
  fast.set_queued(9);
  BOOST_TEST(earliest(both, 1, now) == 0u);
  slow.batch_started(2, now);
  BOOST_TEST(earliest(both, 1, now) == 1u);
  slow.batch_ended(2);
  BOOST_TEST(earliest(both, 1, now) == 0u);
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
