// What is promised to who waits, checked while nothing goes wrong: places in line, and an end to
// waiting.

#include "tests/simulation/random_world.hpp"

#include <algorithm>
#include <vector>

namespace troupe::test {

namespace {

std::vector<float> without_repeats(std::vector<float> values) {
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

} // namespace

// Requests of one priority that come to one device run in the order in which they came.
void random_world::check_order() {
  if (!spec_.policy.preserve_ordering || spec_.sequences)
    return;
  note("-- order");
  composed_ = false; // a request through a pipeline lines up when its step comes
  for (const auto& list : lists_)
    list->run_values.clear();
  const auto before = asked_.size();
  for (auto asking = 10 + below(20); asking > 0; --asking) {
    ask(true, 1 + below(std::min<std::int64_t>(spec_.max_batch, 3)));
    if (chance(30)) {
      deliver_messages(below(20));
      any_of(lists_)->run_next();
    }
  }
  settle(20, 100ms);
  for (const auto& list : lists_) {
    const auto ran = without_repeats(list->run_values);
    BOOST_TEST(std::is_sorted(ran.begin(), ran.end()), "requests keep their order on a device");
  }
  for (auto i = before; i < asked_.size(); ++i)
    BOOST_TEST(
        (outcome(asked_[i].name) == "ok" || outcome(asked_[i].name) == "RESOURCE_EXHAUSTED"));
}

// Who has waited for the aging time is next, whatever else comes: it runs in the batch after the
// one that runs then.
void random_world::check_waiting() {
  if (priorities.levels > 0 || devices_.size() > 1 || spec_.policy.preserve_ordering
      || spec_.sequences)
    return;
  note("-- waiting");
  composed_ = false;
  constexpr auto step = 10ms;
  const auto begin = clock->now();
  ask(true, 1, 1); // keeps the device busy while the others line up
  scheduler.run();
  const auto last = asked_.size();
  ask(true, 1, 9);
  scheduler.run();
  if (asked_.size() == last)
    return; // there is no room for two
  const auto bound =
      spec_.policy.aging + spec_.policy.max_wait + 3 * (spec_.cost.value_or(run_time) + step);
  while (outcome(asked_[last].name).empty() && clock->now() - begin <= 2 * bound) {
    for (std::int64_t i = 0; i < 2 * std::min<std::int64_t>(spec_.max_batch, 4); ++i)
      ask(true, 1, 1);
    scheduler.run();
    work->run_next();
    scheduler.run();
    scheduler.advance_time(step);
    scheduler.run();
  }
  if (outcome(asked_[last].name) != "RESOURCE_EXHAUSTED")
    BOOST_TEST((clock->now() - begin <= bound), "nobody waits for much longer than the aging time");
  settle(40, 1s);
}

} // namespace troupe::test
