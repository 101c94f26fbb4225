// start_stop [--cycles N] [--requests N] [--seed N]
// Starts a runtime, loads a model, has requests in flight over it and stops: again and again. What
// must hold: every request is answered exactly once, with its own values or `unavailable`, threads
// and memory do not grow, nothing hangs (whoever runs this sets the limit).

#include "actors/troupe.hpp"
#include "tests/actors/relu_model.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace troupe;
namespace fs = std::filesystem;

struct tally {
  std::atomic<std::uint64_t> served{0}, refused{0}, wrong{0}, twice{0};
};

std::int64_t of_status(const std::string& key) {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":"))
      return std::stoll(line.substr(key.size() + 1));
  return 0;
}

inference_request asking(float value) {
  inference_request request;
  request.model_name = "relu";
  const float values[]{value, -1};
  request.inputs.push_back(
      {"x", tensor{dtype::float32, {1, 2}, copy_of(std::as_bytes(std::span{values}))}, {}});
  return request;
}

void count(tally& all, float value, std::atomic<int>& answers, const response_part& part) {
  if (answers++ > 0)
    ++all.twice;
  if (!part) {
    const auto code = part.error().code;
    ++(code == errc::unavailable || code == errc::cancelled ? all.refused : all.wrong);
    return;
  }
  const auto y = elements_of<float>(part->outputs.at(0).value.data);
  ++(y[0] == value && y[1] == 0 ? all.served : all.wrong);
}

// Whether every request was answered by the time the runtime had stopped.
bool cycle(const fs::path& model, int requests, std::mt19937& dice, tally& all) {
  std::vector<std::atomic<int>> answers(static_cast<std::size_t>(requests));
  options with;
  with.devices = {"cpu:threads=1"};
  auto started = runtime::start(std::move(with));
  if (!started) {
    fmt::print(stderr, "start_stop: {}\n", to_string(started.error()));
    return false;
  }
  auto& system = **started;
  if (auto loaded = system.load("relu", model); !loaded) {
    fmt::print(stderr, "start_stop: {}\n", to_string(loaded.error()));
    return false;
  }
  for (int i = 0; i < requests; ++i) {
    const auto value = static_cast<float>(i + 1);
    auto& mine = answers[static_cast<std::size_t>(i)];
    const auto call = system.infer(
        asking(value), [&, value](const response_part& part) { count(all, value, mine, part); });
    if (call && dice() % 16 == 0)
      call->cancel();
  }
  system.stop(std::chrono::milliseconds{dice() % 3});
  for (const auto& one : answers)
    if (one != 1)
      return false;
  return true;
}

int run(int cycles, int requests, std::uint32_t seed) {
  const auto folder = fs::temp_directory_path() / fmt::format("troupe_start_stop_{}", ::getpid());
  fs::create_directories(folder);
  const auto model = folder / "model.onnx";
  std::ofstream{model, std::ios::binary} << test::relu_model(2);
  std::mt19937 dice{seed};
  tally all;
  int bad = 0;
  std::int64_t threads = 0, kilobytes = 0;
  for (int i = 0; i < cycles; ++i) {
    bad += cycle(model, requests, dice, all) ? 0 : 1;
    if (i == cycles / 5) { // allocators and thread pools have what they want to keep
      threads = of_status("Threads");
      kilobytes = of_status("VmRSS");
    }
  }
  const auto more_threads = of_status("Threads") - threads;
  fs::remove_all(folder);
  fmt::print(
      "{} cycles: {} requests served, {} refused, {} wrong, {} answered twice; {} cycles with "
      "requests that were not answered; {:+} threads, {:+} KiB since the first fifth\n",
      cycles, all.served.load(), all.refused.load(), all.wrong.load(), all.twice.load(), bad,
      more_threads, of_status("VmRSS") - kilobytes);
  return bad == 0 && all.wrong == 0 && all.twice == 0 && more_threads <= 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  int cycles = 50;
  int requests = 200;
  int seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    int* const which = word == "--cycles"     ? &cycles
                       : word == "--requests" ? &requests
                       : word == "--seed"     ? &seed
                                              : nullptr;
    if (!which || ++i == argc) {
      fmt::print(stderr, "usage: start_stop [--cycles N] [--requests N] [--seed N]\n");
      return 2;
    }
    *which = std::atoi(argv[i]);
  }
  return run(cycles, requests, static_cast<std::uint32_t>(seed));
}
