// troupe-load: puts a server under load, closed loop, open, or as another server's was, and says
// how long answers took.

#include "bench/serve/load_input.hpp"
#include "bench/serve/load_run.hpp"
#include "bench/serve/replay.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>

namespace {

using namespace troupe;

struct options {
  std::string url;
  std::string model;
  std::string version;
  std::size_t connections = 1;
  std::vector<std::string> shapes;
  std::vector<std::string> inputs;
  double seconds = 10;
  double warm_up = 1;
  double timeout = 60;
  double rate = 0;
  std::string replay;
  double speed = 1;
  bool json = false;
  bench::load_plan plan;
};

duration seconds(double count) {
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>{count});
}

// `of` is null where nothing is replayed.
void print_json(const options& with, const bench::load_result& got, const bench::replay* of) {
  nlohmann::json out{
      {"url", with.url},
      {"connections", with.connections},
      {"seconds", got.seconds},
      {"sent", got.sent},
      {"succeeded", got.latencies_ns.size()},
      {"failures", got.failures},
      {"throughput_per_s",
       got.seconds > 0 ? static_cast<double>(got.latencies_ns.size()) / got.seconds : 0},
      {"latency_ms",
       {{"mean", got.mean_ms()},
        {"p50", got.quantile_ms(0.5)},
        {"p90", got.quantile_ms(0.9)},
        {"p99", got.quantile_ms(0.99)},
        {"p99.9", got.quantile_ms(0.999)},
        {"max", got.quantile_ms(1)}}},
      {"refusal_ms", {{"p50", got.refusal_ms(0.5)}, {"p99", got.refusal_ms(0.99)}}}};
  if (of) {
    out["replay"] = with.replay;
    out["speed"] = with.speed;
    out["without_payload"] = of->without_payload();
    out["cut_off_bytes"] = of->cut_off();
    out["sent_late"] = got.late;
    fmt::print("{}\n", out.dump(2));
    return;
  }
  out["model"] = with.model;
  if (with.plan.rate) {
    out["rate_per_s"] = *with.plan.rate;
    out["poisson"] = with.plan.poisson;
    out["sent_late"] = got.late;
  } else {
    out["concurrency"] = with.plan.concurrency;
  }
  fmt::print("{}\n", out.dump(2));
}

void print_table(const options& with, const bench::load_result& got, const bench::replay* of) {
  if (of)
    fmt::print("replay of {}, {} requests at {} times their speed\n", with.replay, of->requests(),
               with.speed);
  else if (with.plan.rate)
    fmt::print("open loop, {} requests/s{}\n", *with.plan.rate,
               with.plan.poisson ? ", Poisson" : "");
  else
    fmt::print("closed loop, {} in flight\n", with.plan.concurrency);
  fmt::print("  {} answers in {:.2f} s: {:.1f}/s\n", got.latencies_ns.size(), got.seconds,
             got.seconds > 0 ? static_cast<double>(got.latencies_ns.size()) / got.seconds : 0.0);
  fmt::print("  latency ms   mean {:.3f}   p50 {:.3f}   p90 {:.3f}   p99 {:.3f}   p99.9 {:.3f}   "
             "max {:.3f}\n",
             got.mean_ms(), got.quantile_ms(0.5), got.quantile_ms(0.9), got.quantile_ms(0.99),
             got.quantile_ms(0.999), got.quantile_ms(1));
  if (of && of->without_payload() > 0)
    fmt::print("  {} more requests are left out: their payloads were not kept\n",
               of->without_payload());
  if (!got.refusals_ns.empty())
    fmt::print("  refusal ms   p50 {:.3f}   p99 {:.3f}   max {:.3f}\n", got.refusal_ms(0.5),
               got.refusal_ms(0.99), got.refusal_ms(1));
  if (got.late > 0)
    fmt::print("  {} requests left more than 1 ms late: the client was the bottleneck\n", got.late);
  for (const auto& [code, count] : got.failures)
    fmt::print("  {} failed with {}: {}\n", count, code, got.examples.at(code));
}

void print(const options& with, const bench::load_result& got, const bench::replay* of) {
  with.json ? print_json(with, got, of) : print_table(with, got, of);
}

using clients = std::vector<std::unique_ptr<client::client>>;

result<clients> connect(const options& with) {
  client::options settings;
  settings.timeout = seconds(with.timeout);
  settings.max_in_flight = 100'000; // in an open loop the server refuses, not the client
  settings.http_connections = std::max<std::size_t>(with.plan.concurrency, 256);
  clients made;
  for (std::size_t i = 0; i < with.connections; ++i) {
    auto one = client::connect(with.url, settings);
    if (!one)
      return propagate(one);
    made.push_back(std::move(*one));
  }
  return made;
}

result<bool> replay(const options& with) {
  auto recorded = bench::replay::open(with.replay, with.speed);
  if (!recorded)
    return propagate(recorded);
  const auto over = connect(with);
  if (!over)
    return propagate(over);
  const auto got = bench::run_schedule(*over, [&recorded] { return recorded->next(); });
  if (!got)
    return propagate(got);
  print(with, *got, &*recorded);
  return !got->latencies_ns.empty();
}

result<bool> load(options& with) {
  const auto over = connect(with);
  if (!over)
    return propagate(over);
  const auto model = over->front()->metadata(with.model, with.version);
  if (!model)
    return propagate(model);
  auto inputs = bench::make_inputs(*model, with.shapes, with.inputs, with.plan.seed);
  if (!inputs)
    return propagate(inputs);
  client::inference_request request;
  request.model_name = with.model;
  request.model_version = with.version;
  request.inputs = std::move(*inputs);
  with.plan.warm_up = seconds(with.warm_up);
  with.plan.measured = seconds(with.seconds);
  const auto got = bench::run_load(*over, request, with.plan);
  print(with, got, nullptr);
  return !got.latencies_ns.empty();
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Puts a server under load and says how long answers took.", "troupe-load"};
  options with;
  app.add_option("URL", with.url, "tcp://HOST[:PORT] or http://HOST[:PORT]")->required();
  auto* model = app.add_option("MODEL", with.model, "Name of a model of the server");
  auto* concurrency =
      app.add_option("--concurrency", with.plan.concurrency, "Closed loop: requests in flight")
          ->check(CLI::Range(1, 100'000))
          ->capture_default_str();
  auto* rate = app.add_option("--rate", with.rate,
                              "Open loop: requests a second; latency counts from when each was due")
                   ->check(CLI::PositiveNumber)
                   ->excludes(concurrency);
  app.add_flag("--poisson", with.plan.poisson,
               "Open loop: random gaps, as from many independent users")
      ->needs(rate);
  auto* replayed =
      app.add_option("--replay", with.replay,
                     "Open loop: the requests of a capture with payloads, at the times at which "
                     "they came")
          ->type_name("FILE")
          ->check(CLI::ExistingFile)
          ->excludes(model)
          ->excludes(rate)
          ->excludes(concurrency);
  app.add_option("--speed", with.speed, "Of a replay: 2 halves the time between requests")
      ->check(CLI::Range(1e-6, 1e6))
      ->needs(replayed)
      ->capture_default_str();
  app.add_option("--seconds", with.seconds, "How long to measure")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--warm-up", with.warm_up, "Seconds of load before that")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--shape", with.shapes, "Shape of an input whose sizes are free")
      ->type_name("NAME=1,3,48,320")
      ->allow_extra_args(false);
  app.add_option("--input", with.inputs,
                 "Content of an input: a .npy file, or any other as one element of BYTES")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app.add_option("--connections", with.connections,
                 "Clients, each with a connection and a thread of its own")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--model-version", with.version, "The server's choice if not given");
  app.add_option("--timeout", with.timeout, "Longest wait for one answer, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", with.plan.seed, "Of random inputs and gaps")->capture_default_str();
  app.add_flag("--json", with.json, "Print one JSON document");
  try {
    app.parse(argc, argv);
    if (with.model.empty() && with.replay.empty())
      throw CLI::RequiredError{"MODEL, or --replay FILE"};
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0)
      return app.exit(e);
    std::fprintf(stderr, "troupe: %s\n", e.what());
    return 2;
  }
  if (rate->count() > 0)
    with.plan.rate = with.rate;
  try {
    const auto done = with.replay.empty() ? load(with) : replay(with);
    if (!done)
      std::fprintf(stderr, "troupe: %s\n", done.error().text.c_str());
    return done && *done ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe: %s\n", e.what());
    return 1;
  }
}
