// `troupe simulate`: a capture played again in virtual time, by the actors that serve.

#include "actors/simulation/policy_name.hpp"
#include "actors/simulation/replay.hpp"
#include "apps/troupe/commands.hpp"
#include "apps/troupe/simulate_report.hpp"

#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

namespace troupe::cli {

namespace {

namespace simulation = actors::simulation;

struct settings {
  std::string file;
  std::string policy;
  std::optional<double> slo_ms;
  std::size_t devices = 0;
  double rate = 1;
  std::uint64_t seed = 1;
  bool json = false;
};

std::string described(const settings& from) {
  auto text = from.policy.empty() ? std::string{"policy as captured"} : "policy " + from.policy;
  if (from.slo_ms)
    text += fmt::format(", SLO {:g} ms", *from.slo_ms);
  if (from.devices > 0)
    text += fmt::format(", {} device{}", from.devices, from.devices > 1 ? "s" : "");
  if (from.rate != 1)
    text += fmt::format(", {:g} times the rate", from.rate);
  return text;
}

result<void> simulate(const settings& from) {
  std::ifstream file{from.file, std::ios::binary};
  if (!file)
    return fail(errc::not_found, "{}: {}", from.file, std::strerror(errno));
  const auto captured = simulation::read_capture(file);
  if (!captured)
    return fail(captured.error().code, "{}: {}", from.file, captured.error().text);
  simulation::replay_options with;
  if (!from.policy.empty()) {
    auto policy = simulation::policy_named(from.policy);
    if (!policy)
      return propagate(std::move(policy));
    with.policy = *policy;
  }
  if (from.slo_ms)
    with.objective = std::chrono::duration_cast<duration>(
        std::chrono::duration<double, std::milli>{*from.slo_ms});
  with.devices = from.devices;
  with.rate = from.rate;
  with.seed = from.seed;
  const auto played = simulation::play(simulation::scenario_of(*captured, with));
  if (!played)
    return propagate(played);
  if (from.json)
    print_simulation_json(*captured, *played);
  else
    print_simulation(from.file, *captured, described(from), *played);
  return {};
}

} // namespace

action add_simulate(CLI::App& command) {
  auto from = std::make_shared<settings>();
  command.add_option("FILE", from->file, "What `troupe serve --capture FILE` wrote")
      ->required()
      ->check(CLI::ExistingFile);
  command.add_option("--policy", from->policy,
                     "For every model, instead of its own: auto, latency, throughput, none (no "
                     "batching), or fixed:SIZE:DELAY (wait for SIZE rows, at most DELAY ms)");
  command
      .add_option("--slo", from->slo_ms,
                  "From arrival to answer: `auto` keeps to it, and answers are counted against it")
      ->type_name("MS")
      ->check(CLI::Range(0.0, 3'600'000.0));
  command
      .add_option("--devices", from->devices,
                  "So many devices like those that there were; 0: as many as there were")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  command.add_option("--rate", from->rate, "Requests come so many times faster")
      ->type_name("X")
      ->check(CLI::Range(0.0001, 10'000.0))
      ->capture_default_str();
  command
      .add_option("--seed", from->seed, "Of the draw among the times that batches of one size took")
      ->capture_default_str();
  command.add_flag("--json", from->json, "Print one JSON document");
  return [from] {
    spdlog::set_level(spdlog::level::err);
    const auto done = simulate(*from);
    return done ? 0 : fail(done.error());
  };
}

} // namespace troupe::cli
