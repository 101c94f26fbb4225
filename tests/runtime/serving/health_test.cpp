#include "runtime/placement/device_health.hpp"
#include "runtime/placement/pulse.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::placement;
using namespace std::chrono_literals;

namespace {

constexpr auto begin = time_point{} + 1h;

} // namespace

BOOST_AUTO_TEST_SUITE(a_device)

BOOST_AUTO_TEST_CASE(is_unfit_after_failures_in_a_row) {
  device_health one{"cpu", {.failures = 3, .window = 60s}};
  one.failed(begin);
  one.failed(begin + 1s);
  one.ran();
  one.failed(begin + 2s);
  one.failed(begin + 3s);
  BOOST_TEST(one.fit());
  one.failed(begin + 100s); // the others were long ago
  one.failed(begin + 101s);
  BOOST_TEST(one.fit());
  one.failed(begin + 102s);
  BOOST_TEST(!one.fit());
  BOOST_TEST(one.failures() == 7u);
}

BOOST_AUTO_TEST_CASE(is_fit_on_trial_after_a_probe) {
  device_health one{"cpu", {.failures = 3, .window = 60s}};
  one.fell_silent();
  BOOST_TEST(!one.fit());
  one.ran(); // what it was given before does not count
  BOOST_TEST(!one.fit());
  one.passed_probe();
  BOOST_TEST(one.fit());
  one.failed(begin);
  BOOST_TEST(one.fit()); // long after the last one
  one.passed_probe();
  one.failed(begin + 1s);
  BOOST_TEST(!one.fit());
  one.passed_probe();
  one.ran();
  one.failed(begin + 2s);
  BOOST_TEST(one.fit());
}

BOOST_AUTO_TEST_CASE(is_to_get_on_within_the_limit_of_what_is_first) {
  pulse of;
  BOOST_TEST(!of.due());
  BOOST_TEST(of.began(1, 10s, begin));
  BOOST_TEST(!of.began(2, 30s, begin + 1s));
  BOOST_TEST((*of.due() == begin + 10s));
  BOOST_TEST(!of.ended(1, begin + 9s));
  BOOST_TEST((*of.due() == begin + 39s));
  BOOST_TEST(!of.ended(1, begin + 20s));
  BOOST_TEST((*of.due() == begin + 39s));
  BOOST_TEST(!of.began(3, 1s, begin + 20s));
  BOOST_TEST(of.ended(2, begin + 21s)); // what is first now has less time
  BOOST_TEST((*of.due() == begin + 22s));
  of.clear();
  BOOST_TEST(!of.due());
  BOOST_TEST(of.began(4, 10s, begin + 40s));
}

BOOST_AUTO_TEST_SUITE_END()
