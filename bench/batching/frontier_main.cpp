// batching_frontier: policies under rising load on simulated devices, and what they have to reach.

#include "bench/batching/frontier.hpp"
#include "bench/batching/goals.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include <cstdio>

namespace {

using namespace troupe;
using namespace troupe::bench;
using namespace std::chrono_literals;

const std::vector<bench_device> devices{
    {"steep", 10ms, 100us, 256, 100ms}, // a launch costs as much as a hundred rows
    {"flat", 1870us, 1ms, 256, 200ms},  // no batching reaches 35 % of what it can do
    {"linear", 0us, 1ms, 256, 50ms},    // batches save nothing
};
const std::vector<std::string> policies{"none",      "auto",        "latency",     "throughput",
                                        "fixed:8:5", "fixed:32:20", "fixed:128:50"};
const std::vector<double> loads{0.001, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.8, 0.9, 1, 2, 10};

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Latency and throughput of batching policies on simulated devices, in virtual time. "
               "Exit status 1 if a goal is missed."};
  std::string json;
  std::string only_device;
  std::string only_pattern;
  std::uint64_t seed = 1;
  bool quiet = false;
  app.add_option("--json", json, "Write every point to this file");
  app.add_option("--device", only_device, "steep, flat or linear; all if left out");
  app.add_option("--pattern", only_pattern, "poisson or bursty; both if left out");
  app.add_option("--seed", seed, "Of the arrivals")->capture_default_str();
  app.add_flag("--quiet", quiet, "Print the goals only");
  CLI11_PARSE(app, argc, argv);
  spdlog::set_level(spdlog::level::err);

  std::vector<point> points;
  if (!quiet)
    print_point_head();
  for (const auto& on : devices)
    for (const std::string pattern : {"poisson", "bursty"})
      for (const auto objective : {duration{0}, on.objective})
        for (const auto load : loads)
          for (const auto& policy : policies) {
            if ((!only_device.empty() && on.name != only_device)
                || (!only_pattern.empty() && pattern != only_pattern))
              continue;
            const auto one = measure(on, pattern, policy, load, objective, seed);
            if (!one) {
              std::fprintf(stderr, "%s\n", one.error().text.c_str());
              return 2;
            }
            if (!quiet)
              print(*one);
            points.push_back(*one);
          }
  if (!json.empty())
    if (const auto written = write_json(json, points); !written) {
      std::fprintf(stderr, "%s\n", written.error().text.c_str());
      return 2;
    }
  return report_goals(devices, points) ? 0 : 1;
}
