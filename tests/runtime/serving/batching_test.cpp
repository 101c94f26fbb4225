#include "runtime/batching/buckets.hpp"
#include "runtime/batching/queue.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace troupe;
using namespace troupe::batching;
using namespace std::chrono_literals;

namespace {

const time_point start{1h};
const device_view idle{0, 2, false};
const device_view busy{1, 2, false};

shape_key width(std::int64_t size) {
  shape_key key;
  const std::int64_t dims[]{1, size};
  key.add(dtype::float32, dims, true);
  return key;
}

struct waiting_room {
  void add(const std::string& name, std::int64_t rows = 1, std::int64_t size = 8,
           std::uint32_t priority = 100, duration deadline = 60s, duration after = 0s) {
    jobs.push(width(size), {name, rows, priority, start + deadline, start + after, 0});
  }

  std::string take(const policy& rule, const device_view& device = idle, duration at = 0s) {
    std::string names;
    for (const auto& item : jobs.take(rule, device, start + at))
      names += item.job;
    return names;
  }

  queue<std::string> jobs;
};

const policy latency = *preset("latency");
const policy throughput = *preset("throughput");

} // namespace

BOOST_FIXTURE_TEST_SUITE(batching_queue, waiting_room)

BOOST_AUTO_TEST_CASE(the_latency_preset_leaves_an_idle_device_nothing_to_wait_for) {
  add("a");
  BOOST_TEST(take(latency) == "a");
}

BOOST_AUTO_TEST_CASE(a_busy_device_lets_the_batch_grow) {
  add("a");
  BOOST_TEST(take(latency, busy) == "");
  add("b");
  BOOST_TEST(take(latency, idle) == "ab");
}

BOOST_AUTO_TEST_CASE(a_full_batch_is_handed_to_a_busy_device_that_has_a_ticket) {
  policy rule = latency;
  rule.max_rows = 2;
  add("a");
  add("b");
  BOOST_TEST(take(rule, {2, 2, false}) == "");
  BOOST_TEST(take(rule, busy) == "ab");
}

BOOST_AUTO_TEST_CASE(behind_a_short_run_nobody_waits) {
  add("a");
  BOOST_TEST(take(latency, {1, 2, true}) == "a");
}

BOOST_AUTO_TEST_CASE(the_throughput_preset_waits_for_32_rows_or_100_ms) {
  for (int i = 0; i < 31; ++i)
    add("x");
  BOOST_TEST(take(throughput, idle, 99ms) == "");
  BOOST_TEST((*jobs.next_close(throughput, idle) == start + 100ms));
  BOOST_TEST(take(throughput, idle, 100ms).size() == 31u);
  for (int i = 0; i < 32; ++i)
    add("x");
  BOOST_TEST(take(throughput).size() == 32u);
}

BOOST_AUTO_TEST_CASE(a_batch_holds_at_most_the_rows_allowed_and_a_larger_request_goes_alone) {
  policy rule = latency;
  rule.max_rows = 4;
  add("a", 3);
  add("b", 2);
  add("c", 9);
  BOOST_TEST(take(rule) == "a");
  BOOST_TEST(take(rule) == "b");
  BOOST_TEST(take(rule) == "c");
  BOOST_TEST(jobs.rows() == 0);
}

BOOST_AUTO_TEST_CASE(only_requests_of_one_shape_share_a_batch) {
  add("a", 1, 8);
  add("b", 1, 16);
  add("c", 1, 8);
  BOOST_TEST(take(latency) == "ac");
  BOOST_TEST(take(latency) == "b");
}

BOOST_AUTO_TEST_CASE(priority_goes_before_deadline_and_deadline_before_arrival) {
  policy rule = latency;
  rule.max_rows = 1;
  add("late", 1, 8, 100, 60s);
  add("soon", 1, 8, 100, 1s);
  add("high", 1, 8, 1, 60s);
  BOOST_TEST(take(rule) == "high");
  BOOST_TEST(take(rule) == "soon");
  BOOST_TEST(take(rule) == "late");
}

BOOST_AUTO_TEST_CASE(preserved_order_stops_a_batch_at_the_first_other_shape) {
  policy rule = latency;
  rule.preserve_ordering = true;
  add("a", 1, 8);
  add("b", 1, 16);
  add("c", 1, 8);
  BOOST_TEST(take(rule) == "a");
  BOOST_TEST(take(rule) == "b");
  BOOST_TEST(take(rule) == "c");
}

BOOST_AUTO_TEST_CASE(what_is_removed_is_not_counted_any_more) {
  add("a", 2, 8, 100, 1s);
  add("b", 3, 8, 100, 9s);
  BOOST_TEST((*jobs.next_expiry() == start + 1s));
  const auto gone = jobs.remove_if([](const auto& item) { return item.job == "a"; });
  BOOST_TEST(gone.size() == 1u);
  BOOST_TEST(jobs.rows() == 3);
  BOOST_TEST((*jobs.next_expiry() == start + 9s));
}

BOOST_AUTO_TEST_CASE(a_busy_device_needs_no_alarm) {
  add("a");
  BOOST_TEST(!jobs.next_close(throughput, busy).has_value());
  BOOST_TEST(!queue<std::string>{}.next_close(throughput, idle).has_value());
}

BOOST_AUTO_TEST_CASE(an_unknown_preset_names_the_known_ones) {
  BOOST_TEST(preset("fast").error().text
             == "batching preset: expected \"latency\" or \"throughput\", got \"fast\"");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(bucket_choice_)

using way = bucket_choice::way;

BOOST_AUTO_TEST_CASE(the_wanted_bucket_is_taken_where_it_is_planned) {
  const std::int64_t planned[]{1, 4, 8};
  const auto choice = choose_bucket(3, 4, planned, {}, 20ms);
  BOOST_TEST((choice.how == way::exact));
  BOOST_TEST(choice.bucket == 4);
}

BOOST_AUTO_TEST_CASE(the_fastest_way_to_the_answer_serves_until_then) {
  placement::latency_profile profile;
  profile.record(1, 10ms);
  profile.record(8, 20ms);
  const std::int64_t planned[]{1, 8};
  const auto padded = choose_bucket(3, 4, planned, profile, 100ms);
  BOOST_TEST((padded.how == way::pad));
  BOOST_TEST(padded.bucket == 8);
  const std::int64_t one[]{1};
  const auto split = choose_bucket(3, 4, one, profile, 100ms);
  BOOST_TEST((split.how == way::split));
  BOOST_TEST((choose_bucket(32, 32, one, profile, 10ms).how == way::wait));
  BOOST_TEST((choose_bucket(3, 4, {}, profile, 100ms).how == way::wait));
}

BOOST_AUTO_TEST_SUITE_END()
