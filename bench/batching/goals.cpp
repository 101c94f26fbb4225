#include "bench/batching/goals.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

namespace troupe::bench {

namespace {

constexpr double nearly_all = 0.99;

struct case_of {
  const bench_device* on = nullptr;
  std::map<std::string, point> by_policy;

  [[nodiscard]] const point& at(const std::string& policy) const { return by_policy.at(policy); }
};

std::vector<case_of> cases(const std::vector<bench_device>& devices,
                           const std::vector<point>& points) {
  std::map<std::tuple<std::string, std::string, double, double>, case_of> found;
  for (const auto& one : points) {
    auto& into = found[{one.device, one.pattern, one.objective_ms, one.load}];
    for (const auto& on : devices)
      if (on.name == one.device)
        into.on = &on;
    into.by_policy[one.policy] = one;
  }
  std::vector<case_of> made;
  for (auto& [key, one] : found)
    made.push_back(std::move(one));
  return made;
}

class report {
public:
  void goal(const point& of, const char* what, double is, double wanted, bool at_least) {
    const bool met = at_least ? is >= wanted : is <= wanted;
    const auto tiny = 1e-9; // nothing at all
    worst(what, at_least ? wanted / std::max(is, tiny) : is / wanted, of);
    if (!met) {
      all_met_ = false;
      std::printf("  missed: %s, %s, slo %.0f ms, load %g: %s: %.4g, wanted %s %.4g\n",
                  of.device.c_str(), of.pattern.c_str(), of.objective_ms, of.load, what, is,
                  at_least ? "at least" : "at most", wanted);
    }
  }

  [[nodiscard]] bool finish() const {
    for (const auto& [what, how] : worst_)
      std::printf("%s  %s (closest: %s, %s, slo %.0f ms, load %g, at %.1f %% of the limit)\n",
                  how.ratio <= 1 ? "ok    " : "MISSED", what.c_str(), how.of.device.c_str(),
                  how.of.pattern.c_str(), how.of.objective_ms, how.of.load, 100 * how.ratio);
    return all_met_;
  }

private:
  struct closest {
    double ratio = 0; ///< of what is to what may be; above 1: missed
    point of;
  };

  void worst(const char* what, double ratio, const point& of) {
    auto& known = worst_[what];
    if (ratio >= known.ratio)
      known = {ratio, of};
  }

  std::map<std::string, closest> worst_;
  bool all_met_ = true;
};

void without_objective(report& to, const case_of& in) {
  const auto& own = in.at("auto");
  double best_mean = 0;
  double best_rate = 0;
  for (const auto& [policy, one] : in.by_policy) {
    if (policy == "auto")
      continue;
    best_rate = std::max(best_rate, one.throughput);
    if (one.in_time >= nearly_all && (best_mean == 0 || one.mean_ms < best_mean))
      best_mean = one.mean_ms;
  }
  if (best_mean > 0)
    to.goal(own, "mean latency within 10 % of the best fixed policy's", own.mean_ms,
            1.1 * best_mean, false);
  to.goal(own, "answers a second within 10 % of the best fixed policy's", own.throughput,
          0.9 * best_rate, true);
  if (own.load <= 0.01 && in.at("none").in_time >= nearly_all && in.at("none").busy < 0.05)
    to.goal(own, "almost no load: at most 5 % above no batching", own.mean_ms,
            1.05 * in.at("none").mean_ms, false);
  if (own.load == 1 && in.on->capacity(1) < 0.36 * in.on->capacity()
      && in.on->capacity(1) > 0.34 * in.on->capacity() && own.pattern == "poisson")
    to.goal(own, "90 % of capacity where no batching gives 35 %",
            own.throughput / in.on->capacity(), 0.9, true);
}

void with_objective(report& to, const case_of& in) {
  const auto& own = in.at("auto");
  double best = 0;
  bool possible = false;
  for (const auto& [policy, one] : in.by_policy) {
    if (policy == "auto")
      continue;
    best = std::max(best, one.goodput);
    possible = possible || one.in_time >= nearly_all;
  }
  to.goal(own, "answers in time within 10 % of the best fixed policy's", own.goodput, 0.9 * best,
          true);
  if (possible)
    to.goal(own, "the objective is met where any policy meets it", own.in_time, nearly_all, true);
}

} // namespace

bool report_goals(const std::vector<bench_device>& devices, const std::vector<point>& points) {
  report to;
  for (const auto& in : cases(devices, points)) {
    const auto& own = in.at("auto");
    own.objective_ms > 0 ? with_objective(to, in) : without_objective(to, in);
    // Between bursts there is nothing to do that an objective allows to keep until then.
    if (own.load >= 10 && (own.pattern == "poisson" || own.objective_ms == 0))
      to.goal(own, "overload: answers in time at 95 % of capacity", own.goodput / in.on->capacity(),
              0.95, true);
  }
  return to.finish();
}

} // namespace troupe::bench
