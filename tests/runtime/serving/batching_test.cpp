#include "runtime/batching/adaptive_size.hpp"
#include "runtime/batching/arrival_rate.hpp"
#include "runtime/batching/buckets.hpp"
#include "runtime/batching/queue.hpp"
#include "runtime/batching/queue_policy.hpp"

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
    jobs.push(width(size), {name, rows, priority, start + deadline, start + after});
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

BOOST_AUTO_TEST_CASE(who_has_waited_longer_than_the_aging_time_goes_first_in_order_of_arrival) {
  policy rule = latency;
  rule.max_rows = 1;
  rule.aging = 1s;
  add("low", 1, 8, 200, 60s, 0s);
  add("mid", 1, 8, 100, 60s, 100ms);
  add("high", 1, 8, 1, 60s, 1100ms);
  BOOST_TEST(take(rule, idle, 1200ms) == "low");
  BOOST_TEST(take(rule, idle, 1200ms) == "mid");
  BOOST_TEST(take(rule, idle, 1200ms) == "high");
}

BOOST_AUTO_TEST_CASE(without_aging_the_lowest_priority_waits_as_long_as_others_come) {
  policy rule = latency;
  rule.max_rows = 1;
  rule.aging = 0s;
  add("low", 1, 8, 200, 60s, 0s);
  add("high", 1, 8, 1, 60s, 10s);
  BOOST_TEST(take(rule, idle, 20s) == "high");
}

BOOST_AUTO_TEST_CASE(what_is_put_last_does_not_age) {
  policy rule = latency;
  rule.max_rows = 1;
  add("overdue", 1, 8, queue<std::string>::last, 60s, 0s);
  add("other", 1, 8, 100, 60s, 10s);
  BOOST_TEST(take(rule, idle, 10s) == "other");
}

BOOST_AUTO_TEST_CASE(requests_are_counted_by_priority) {
  add("a", 1, 8, 1);
  add("b", 1, 8, 2);
  add("c", 1, 16, 2);
  BOOST_TEST(jobs.count(2) == 2u);
  BOOST_TEST(take(latency) == "ab");
  BOOST_TEST(jobs.count(1) == 0u);
  BOOST_TEST(jobs.count(2) == 1u);
  (void)jobs.remove_if([](const auto&) { return true; });
  BOOST_TEST(jobs.count(2) == 0u);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_request_s_time_in_the_queue_is_an_expiry) {
  queue<std::string>::item waiting{"a", 1, 100, start + 60s, start};
  waiting.leave_by = start + 5s;
  jobs.push(width(8), waiting);
  BOOST_TEST((*jobs.next_expiry() == start + 5s));
}

BOOST_AUTO_TEST_CASE(rows_before_a_request_are_those_of_its_priority_and_deadline_or_better) {
  add("a", 2, 8, 100, 10s);
  add("b", 3, 8, 100, 30s);
  add("c", 4, 8, 200, 1s);
  BOOST_TEST(jobs.rows_before({"x", 1, 100, start + 20s, start}) == 2);
  BOOST_TEST(jobs.rows_before({"x", 1, 200, start + 20s, start}) == 9);
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
             == "batching preset: expected \"auto\", \"latency\" or \"throughput\", got \"fast\"");
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

std::int64_t power_of_two(std::int64_t rows) {
  std::int64_t size = 1;
  while (size < rows)
    size *= 2;
  return size;
}

// Of so many waiting rows, where so many come in a millisecond.
template <class Measured>
std::int64_t worth(std::int64_t rows, Measured measured, double per_ms = 0) {
  return worth_running({rows, rows, 256, per_ms / 1e6}, power_of_two, measured);
}

std::optional<duration> steep(std::int64_t rows) {
  return 10ms + rows * 100us;
}

std::optional<duration> flat(std::int64_t rows) {
  return 2ms + rows * 1ms;
}

BOOST_AUTO_TEST_CASE(padding_that_costs_more_than_it_serves_is_left_to_the_next_batch) {
  for (const double per_ms : {0.0, 0.5, 0.9, 100.0}) {
    BOOST_TEST(worth(5, steep, per_ms) == 5);
    BOOST_TEST(worth(5, flat, per_ms) == 4);
    BOOST_TEST(worth(130, steep, per_ms) == 128);
    BOOST_TEST(worth(1, flat, per_ms) == 1);
  }
}

BOOST_AUTO_TEST_CASE(a_busy_device_runs_larger_batches_than_an_idle_one) {
  BOOST_TEST(worth(7, flat) == 4);
  BOOST_TEST(worth(7, flat, 0.9) == 7);
  BOOST_TEST(worth(64, flat) == 8);
  BOOST_TEST(worth(64, flat, 0.5) == 16);
  BOOST_TEST(worth(64, flat, 0.9) == 64);
}

BOOST_AUTO_TEST_CASE(where_batches_save_nothing_rows_run_one_by_one) {
  auto linear = [](std::int64_t rows) { return std::optional{duration{rows * 1ms}}; };
  auto worse = [](std::int64_t rows) { return std::optional{duration{rows * rows * 1ms}}; };
  for (const double per_ms : {0.0, 0.9, 100.0}) {
    BOOST_TEST(worth(32, linear, per_ms) == 1);
    BOOST_TEST(worth(5, worse, per_ms) == 1);
  }
}

BOOST_AUTO_TEST_CASE(a_size_that_never_ran_is_tried) {
  auto none = [](std::int64_t) { return std::optional<duration>{}; };
  auto small_only = [](std::int64_t rows) {
    return rows <= 4 ? std::optional{duration{1ms}} : std::nullopt;
  };
  BOOST_TEST(worth(5, none) == 5);
  BOOST_TEST(worth(5, small_only) == 5);
}

BOOST_AUTO_TEST_CASE(arrivals_are_counted_by_the_time_between_batches) {
  arrival_rate rate;
  BOOST_TEST(rate.per_ns() == 0);
  auto at = start;
  rate.departed(at);
  for (int i = 0; i < 40; ++i) {
    rate.came(i % 2 == 0 ? 3 : 1);
    rate.departed(at += i % 2 == 0 ? 3ms : 1ms);
  }
  BOOST_TEST(rate.per_ns() * 1e6 == 1, boost::test_tools::tolerance(1e-9));
  for (int i = 0; i < 40; ++i)
    rate.departed(at += 1ms);
  BOOST_TEST(rate.per_ns() * 1e6 < 0.001);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(adaptive_sizes)

namespace {

// 10 ms and 1 ms per row.
std::function<duration(std::int64_t)> known_device() {
  return [](std::int64_t rows) { return 10ms + rows * 1ms; };
}

} // namespace

BOOST_AUTO_TEST_CASE(a_batch_takes_at_most_half_of_the_objective) {
  BOOST_TEST((adaptive_size{100ms, 256}.rows(known_device()) == 40));
  BOOST_TEST((adaptive_size{1000ms, 256}.rows(known_device()) == 256));
}

BOOST_AUTO_TEST_CASE(without_an_objective_or_anything_known_sizes_are_free) {
  BOOST_TEST((adaptive_size{0ms, 64}.rows(known_device()) == 64));
  BOOST_TEST((adaptive_size{100ms, 64}.rows({}) == 64));
}

BOOST_AUTO_TEST_CASE(an_objective_that_one_row_misses_still_lets_through_what_costs_no_more) {
  BOOST_TEST((adaptive_size{10ms, 256}.rows(known_device()) == 2));
}

BOOST_AUTO_TEST_CASE(a_batch_that_overshoots_halves_the_next_and_those_in_time_give_it_back) {
  adaptive_size size{100ms, 256};
  size.ran(40, 80ms);
  BOOST_TEST(size.rows(known_device()) == 15);
  for (int i = 0; i < 20; ++i)
    size.ran(15, 25ms);
  BOOST_TEST(size.rows(known_device()) == 40);
}

BOOST_AUTO_TEST_CASE(a_single_row_that_takes_too_long_is_nobody_s_overshoot) {
  adaptive_size size{10ms, 256};
  size.ran(1, 11ms);
  BOOST_TEST(size.rows(known_device()) == 2);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(queue_policies)

BOOST_AUTO_TEST_CASE(a_request_without_a_priority_has_the_default_level_else_the_lowest) {
  BOOST_TEST((priority_rules{}.level_of(0) == 100u));
  BOOST_TEST((priority_rules{}.level_of(7) == 7u));
  const priority_rules three{.levels = 3, .default_level = 2, .standard = {}, .by_level = {}};
  BOOST_TEST(three.level_of(0) == 2u);
  BOOST_TEST(three.level_of(3) == 3u);
  BOOST_TEST(three.level_of(4) == 2u);
  const priority_rules plain{.levels = 3, .default_level = 0, .standard = {}, .by_level = {}};
  BOOST_TEST(plain.level_of(0) == 3u);
}

BOOST_AUTO_TEST_CASE(a_level_may_have_a_policy_of_its_own) {
  priority_rules rules;
  rules.standard.max_requests = 5;
  rules.by_level[1].max_requests = 9;
  BOOST_TEST(rules.policy_of(1).max_requests == 9);
  BOOST_TEST(rules.policy_of(2).max_requests == 5);
}

BOOST_AUTO_TEST_SUITE_END()
