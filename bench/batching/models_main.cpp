// batching_models: policies under rising load on a real model and this machine's processor, in
// turns.

#include "apps/common/kernel_waiting.hpp"
#include "bench/batching/comparison.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>

namespace {

using namespace troupe;
using namespace troupe::bench;

struct settings {
  subject_setup with;
  std::vector<std::string> policies{"none",       "auto",      "latency",
                                    "throughput", "fixed:8:5", "fixed:32:20"};
  std::vector<std::string> patterns{"poisson", "bursty"};
  std::vector<double> loads{0.01, 0.1, 0.5, 0.9, 2};
  std::int64_t slo_ms = 0;
  double capacity = 0;
  double turn_seconds = 1;
  double longest_seconds = 4;
  double requests = 100;
  int rounds = 3;
  std::string json;
};

using subjects = std::vector<std::unique_ptr<subject>>;

result<subjects> start_all(const settings& from) {
  subjects made;
  for (const auto& policy : from.policies)
    for (const auto slo : {std::int64_t{0}, from.slo_ms}) {
      auto one = subject::start(from.with, policy, std::chrono::milliseconds{slo});
      if (!one)
        return propagate(std::move(one));
      made.push_back(std::move(*one));
      if (slo == from.slo_ms || !made.back()->heeds_objective())
        break;
    }
  return made;
}

// Rows a second with more requests under way than fit into two batches, by the best policy.
double capacity_of(const subjects& all, const settings& from) {
  double best = 0;
  std::string whose;
  for (int round = 0; round < from.rounds; ++round)
    for (const auto& one : all) {
      const auto rate = closed_loop(*one, static_cast<int>(2 * from.with.max_batch),
                                    as_duration(from.turn_seconds / 2));
      if (rate > best) {
        best = rate;
        whose = one->policy();
      }
    }
  fmt::print("capacity: {:.0f} rows a second ({})\n", best, whose);
  return best;
}

// Every round gives each subject one turn with the same arrivals, and another one begins.
std::vector<trial> play_all(const subjects& all, const settings& from, const std::string& pattern,
                            double load, double capacity) {
  traffic of{.pattern = pattern, .rate = load * capacity};
  of.length =
      as_duration(std::clamp(from.requests / of.rate, from.turn_seconds, from.longest_seconds));
  std::vector<trial> made;
  for (const auto& one : all)
    made.push_back({from.with.name(), pattern, one->policy(), one->objective(), load, of.rate, {}});
  for (int round = 0; round < from.rounds; ++round) {
    of.seed = from.with.seed + static_cast<std::uint64_t>(round);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto at = (i + static_cast<std::size_t>(round)) % all.size();
      made[at].turns.push_back(play(*all[at], of));
    }
  }
  return made;
}

// Who does not heed an objective does the same without: its turns count for both.
void add_points(std::vector<point>& to, const std::vector<trial>& trials, const subjects& all,
                duration slo) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    to.push_back(point_of(trials[i], trials[i].objective));
    print(to.back());
    if (slo > duration{0} && !all[i]->heeds_objective()) {
      to.push_back(point_of(trials[i], slo));
      print(to.back());
    }
  }
}

result<void> run(const settings& from) {
  const auto all = start_all(from);
  if (!all)
    return propagate(all);
  const auto capacity = from.capacity > 0 ? from.capacity : capacity_of(*all, from);
  if (capacity <= 0)
    return fail(errc::internal, "{}: no request was answered", from.with.model);
  const std::chrono::milliseconds slo{from.slo_ms};
  std::vector<trial> trials;
  std::vector<point> points;
  print_point_head();
  for (const auto& pattern : from.patterns)
    for (const auto load : from.loads) {
      auto of_load = play_all(*all, from, pattern, load, capacity);
      add_points(points, of_load, *all, slo);
      std::move(of_load.begin(), of_load.end(), std::back_inserter(trials));
    }
  std::printf("\nauto beside the best other policy\n");
  print_comparison(trials, slo);
  print_cost_of_load(trials);
  return from.json.empty() ? result<void>{} : write_json(from.json, points);
}

} // namespace

int main(int argc, char** argv) {
  apps::limit_kernel_spinning(argv);
  CLI::App app{"Latency and throughput of batching policies on a real model. Each policy has a "
               "runtime of its own; they take turns."};
  settings from;
  app.add_option("MODEL", from.with.model, "A folder of a model repository, or an ONNX file")
      ->required()
      ->check(CLI::ExistingPath);
  app.add_option("--shape", from.with.shapes,
                 "Of an input of one request, one row: NAME=1,3,48,192. Sizes left out: 1");
  app.add_option("--input", from.with.files,
                 "An input's data, one row: NAME=FILE.npy; random where left out");
  app.add_option("--device", from.with.device, "As `troupe serve` takes it")->capture_default_str();
  app.add_option("--max-batch", from.with.max_batch, "Rows of a batch")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--max-queue-rows", from.with.max_queue_rows, "Rows that may wait")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--policies", from.policies,
                 "none, auto, latency, throughput, fixed:SIZE:DELAY; each in turn")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--patterns", from.patterns, "Of the arrivals")
      ->delimiter(',')
      ->check(CLI::IsMember({"poisson", "bursty"}))
      ->capture_default_str();
  app.add_option("--loads", from.loads, "Shares of the capacity")
      ->delimiter(',')
      ->check(CLI::Range(1e-6, 1000.0))
      ->capture_default_str();
  app.add_option("--slo-ms", from.slo_ms, "An objective: `auto` runs with and without it")
      ->check(CLI::Range(0, 3'600'000));
  app.add_option("--capacity", from.capacity, "Rows a second, instead of measuring it")
      ->check(CLI::PositiveNumber);
  app.add_option("--turn", from.turn_seconds, "Shortest turn of a policy, seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--longest-turn", from.longest_seconds, "Longest, where requests are rare")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--requests", from.requests, "So many make a turn long enough")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", from.rounds, "Turns of each policy under each load")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seed", from.with.seed, "Of arrivals and inputs")->capture_default_str();
  app.add_option("--capture", from.with.capture_dir,
                 "Each policy writes what it does to DIRECTORY/POLICY.capture")
      ->check(CLI::ExistingDirectory);
  app.add_option("--json", from.json, "Write every point to this file");
  CLI11_PARSE(app, argc, argv);
  spdlog::set_level(spdlog::level::err);
  from.longest_seconds = std::max(from.longest_seconds, from.turn_seconds);
  if (const auto done = run(from); !done) {
    fmt::print(stderr, "{}\n", to_string(done.error()));
    return 1;
  }
  return 0;
}
