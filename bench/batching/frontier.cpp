#include "bench/batching/frontier.hpp"

#include "actors/simulation/policy_name.hpp"
#include "bench/batching/arrivals.hpp"

#include <algorithm>

namespace troupe::bench {

namespace {

namespace simulation = actors::simulation;

constexpr double requests_wanted = 20000;
constexpr double shortest_seconds = 4;
constexpr double longest_seconds = 200;

simulation::scenario scene(const bench_device& on, batching::policy policy, const traffic& with) {
  simulation::scenario made;
  made.devices = {{on.name}};
  auto& model = made.models.emplace_back();
  model.name = "m";
  model.max_batch = on.max_batch;
  policy.max_rows = std::min(policy.max_rows, on.max_batch);
  model.settings.batching = policy;
  model.objective = policy.objective;
  model.on = {[on](std::size_t, std::int64_t rows) { return on.cost(rows); }};
  made.next = [times = arrivals(with)]() -> std::optional<simulation::arrival> {
    if (const auto at = times())
      return simulation::arrival{.at = *at, .bytes = 4096};
    return std::nullopt;
  };
  return made;
}

} // namespace

double bench_device::capacity(std::int64_t rows) const {
  return static_cast<double>(rows) / seconds(cost(rows));
}

result<point> measure(const bench_device& on, const std::string& pattern, const std::string& policy,
                      double load, duration objective, std::uint64_t seed) {
  auto rule = simulation::policy_named(policy);
  if (!rule)
    return propagate(std::move(rule));
  rule->objective = objective;
  point made{.device = on.name, .pattern = pattern, .policy = policy, .load = load};
  made.objective_ms = seconds(objective) * 1e3;
  made.rate = load * on.capacity();
  const auto length = std::clamp(requests_wanted / made.rate, shortest_seconds, longest_seconds);
  auto asked = scene(on, *rule, {pattern, made.rate, as_duration(length), seed});
  asked.counted_from = as_duration(length / 10); // sizes are learned by then
  const auto played = simulation::play(asked);
  if (!played)
    return propagate(played);
  const auto& of = played->models.front();
  const auto span = seconds(played->span);
  set_outcome(made, of, played->span);
  made.busy = std::min(1.0, seconds(played->devices.front().busy) / span);
  made.rows = of.runs ? static_cast<double>(of.rows) / static_cast<double>(of.runs) : 0;
  return made;
}

} // namespace troupe::bench
