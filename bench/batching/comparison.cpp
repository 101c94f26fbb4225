#include "bench/batching/comparison.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>

namespace troupe::bench {

namespace {

constexpr double nearly_all = 0.99;

using measure_of = std::function<double(std::span<const turn>)>;

duration span_of(std::span<const turn> turns) {
  duration sum{0};
  for (const auto& one : turns)
    sum += one.span();
  return sum;
}

double mean_latency(std::span<const turn> turns) {
  return seconds(judged(turns, {}).mean());
}

double answers_in_time(std::span<const turn> turns, duration objective) {
  return static_cast<double>(judged(turns, objective).rows_in_time) / seconds(span_of(turns));
}

void print_ratio(const char* what, const trial& own, const trial& other, const measure_of& of) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < own.turns.size(); ++i)
    if (const auto beside = of({&other.turns[i], 1}); beside > 0)
      ratios.push_back(of({&own.turns[i], 1}) / beside);
  if (ratios.empty())
    return;
  std::sort(ratios.begin(), ratios.end());
  const auto median = (ratios[(ratios.size() - 1) / 2] + ratios[ratios.size() / 2]) / 2;
  std::printf("  %-24s %5.2f of %-13s (rounds: %.2f to %.2f)\n", what, median, other.policy.c_str(),
              ratios.front(), ratios.back());
}

// Null where none qualifies.
const trial* best(const std::vector<const trial*>& among, const measure_of& score,
                  const std::function<bool(const trial&)>& qualifies) {
  const trial* found = nullptr;
  for (const auto* one : among)
    if (qualifies(*one) && (!found || score(one->turns) > score(found->turns)))
      found = one;
  return found;
}

bool answers_all(const trial& of) {
  const auto outcome = judged(of.turns, {});
  return static_cast<double>(outcome.answered) >= nearly_all * static_cast<double>(outcome.asked);
}

void compare(const std::vector<const trial*>& of_load, duration objective) {
  const trial* own = nullptr;
  std::vector<const trial*> others;
  for (const auto* one : of_load)
    if (one->policy != "auto")
      others.push_back(one);
    else if (one->objective == objective)
      own = one;
  if (!own)
    return;
  const auto any = [](const trial&) { return true; };
  const measure_of in_time = [objective](auto turns) { return answers_in_time(turns, objective); };
  if (objective > duration{0}) {
    if (const auto* other = best(others, in_time, any))
      print_ratio("answers in time", *own, *other, in_time);
    return;
  }
  if (const auto* other = best(
          others, [](auto turns) { return -mean_latency(turns); }, answers_all))
    print_ratio("mean latency", *own, *other, mean_latency);
  else if (const auto* most = best(others, in_time, any))
    print_ratio("answers a second", *own, *most, in_time);
}

} // namespace

point point_of(const trial& of, duration objective) {
  point made{.device = of.model, .pattern = of.pattern, .policy = of.policy};
  made.objective_ms = seconds(objective) * 1e3;
  made.load = of.load;
  made.rate = of.rate;
  const auto span = span_of(of.turns);
  set_outcome(made, judged(of.turns, objective), span);
  device_work_done work;
  duration length{0};
  for (const auto& one : of.turns) {
    work.batches += one.work.batches;
    work.rows += one.work.rows;
    work.busy += one.work.busy;
    length += one.length;
  }
  made.busy = std::min(1.0, seconds(work.busy) / seconds(length));
  made.rows = work.batches ? static_cast<double>(work.rows) / static_cast<double>(work.batches) : 0;
  return made;
}

void print_comparison(const std::vector<trial>& trials, duration objective) {
  std::map<std::pair<std::string, double>, std::vector<const trial*>> by_load;
  for (const auto& one : trials)
    by_load[{one.pattern, one.load}].push_back(&one);
  for (const auto& [load, of_load] : by_load) {
    std::printf("%s, load %g\n", load.first.c_str(), load.second);
    compare(of_load, duration{0});
    if (objective > duration{0})
      compare(of_load, objective);
  }
}

void print_cost_of_load(const std::vector<trial>& trials) {
  duration cpu{0};
  duration length{0};
  double worst = 0;
  std::uint64_t requests = 0;
  std::uint64_t late = 0;
  for (const auto& one : trials)
    for (const auto& turn : one.turns) {
      cpu += turn.load_cpu;
      length += turn.length;
      worst = std::max(worst, seconds(turn.load_cpu) / seconds(turn.length));
      requests += turn.answers.size();
      late += turn.late;
    }
  if (requests == 0)
    return;
  std::printf(
      "asking took %.1f us of the processor a request, %.2f %% of one core, at most %.2f %%; "
      "%.2f %% of the requests left more than a millisecond late\n",
      1e6 * seconds(cpu) / static_cast<double>(requests), 100 * seconds(cpu) / seconds(length),
      100 * worst, 100 * static_cast<double>(late) / static_cast<double>(requests));
}

} // namespace troupe::bench
