#include "bench/batching/point.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace troupe::bench {

namespace {

nlohmann::json as_json(const point& one) {
  return {{"device", one.device},
          {"pattern", one.pattern},
          {"policy", one.policy},
          {"objective_ms", one.objective_ms},
          {"load", one.load},
          {"rate", one.rate},
          {"throughput", one.throughput},
          {"goodput", one.goodput},
          {"in_time", one.in_time},
          {"refused", one.refused},
          {"expired", one.expired},
          {"busy", one.busy},
          {"rows", one.rows},
          {"mean_ms", one.mean_ms},
          {"p50_ms", one.p50_ms},
          {"p99_ms", one.p99_ms}};
}

} // namespace

double seconds(duration of) {
  return std::chrono::duration<double>(of).count();
}

duration as_duration(double seconds) {
  return duration{static_cast<std::int64_t>(seconds * 1e9)};
}

void set_outcome(point& to, const actors::simulation::model_outcome& of, duration span) {
  const auto all = static_cast<double>(std::max<std::uint64_t>(of.asked, 1));
  to.throughput = static_cast<double>(of.rows) / seconds(span);
  to.goodput = static_cast<double>(of.rows_in_time) / seconds(span);
  to.in_time = static_cast<double>(of.in_time) / all;
  to.refused = static_cast<double>(of.refused) / all;
  to.expired = static_cast<double>(of.expired + of.failed) / all;
  to.mean_ms = seconds(of.mean()) * 1e3;
  to.p50_ms = seconds(of.quantile(0.5)) * 1e3;
  to.p99_ms = seconds(of.quantile(0.99)) * 1e3;
}

void print_point_head() {
  std::printf(
      "device       pattern    slo  policy          load   rate/s   good/s  in time refused "
      "  busy   rows  mean ms   p50 ms   p99 ms\n");
}

void print(const point& one) {
  std::printf("%-12s %-8s %5.0f  %-13s %6.3f %8.1f %8.1f %7.1f%% %6.1f%% %5.1f%% %6.1f %8.2f %8.2f "
              "%8.2f\n",
              one.device.c_str(), one.pattern.c_str(), one.objective_ms, one.policy.c_str(),
              one.load, one.rate, one.goodput, 100 * one.in_time, 100 * one.refused, 100 * one.busy,
              one.rows, one.mean_ms, one.p50_ms, one.p99_ms);
}

result<void> write_json(const std::string& file, const std::vector<point>& points) {
  auto all = nlohmann::json::array();
  for (const auto& one : points)
    all.push_back(as_json(one));
  std::ofstream to{file};
  to << all.dump(1) << '\n';
  if (!to.flush())
    return fail(errc::internal, "{}: the points could not be written", file);
  return {};
}

} // namespace troupe::bench
