#include "apps/troupe/commands.hpp"
#include "apps/troupe/engine.hpp"
#include "apps/troupe/profile.hpp"
#include "kernels/tensor/half.hpp"

#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <utility>

namespace troupe::cli {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t max_runs = 1'000'000;

struct options {
  engine_options engine;
  double seconds = 2;
  bool profiled = false;
  bool json = false;
};

double ms_since(clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

/// Seeded numbers in [0, 1); ones where the type is integral, since an index has to be in range.
std::shared_ptr<std::byte[]> make_input(const tensor_desc& of) {
  auto block = allocate_aligned(of.bytes());
  std::mt19937 random{1};
  std::uniform_real_distribution<float> number;
  const auto fill = [&]<class T>(T*) {
    for (auto& value : std::span{reinterpret_cast<T*>(block.get()), of.bytes() / sizeof(T)})
      value = T{number(random)};
  };
  switch (of.type) {
    case dtype::float16: fill(static_cast<half*>(nullptr)); break;
    case dtype::bfloat16: fill(static_cast<bfloat16*>(nullptr)); break;
    case dtype::float32: fill(static_cast<float*>(nullptr)); break;
    case dtype::float64: fill(static_cast<double*>(nullptr)); break;
    default: // a one is its lowest byte, which comes first
      std::fill_n(block.get(), of.bytes(), std::byte{0});
      for (std::size_t at = 0; at < of.bytes(); at += size_of(of.type))
        block[at] = std::byte{1};
  }
  return block;
}

struct measured {
  std::vector<double> run_ms; ///< ascending
  double load_ms = 0;
  double plan_ms = 0;
  std::size_t arena_bytes = 0;
  std::size_t weight_bytes = 0;
  std::int64_t rows = 1;
  std::string table;
  nlohmann::json steps;

  [[nodiscard]] double percentile(double share) const {
    return run_ms[static_cast<std::size_t>(share * static_cast<double>(run_ms.size() - 1))];
  }
};

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

result<void> time_runs(session& of, const options& with, measured& into) {
  if (auto warm = of.run(); !warm)
    return warm;
  profile profiled{of.of()};
  const auto watch = with.profiled ? profiled.watch() : exec::run_state::observer{};
  const auto begin = clock::now();
  do {
    const auto started = clock::now();
    if (auto done = of.run(watch); !done)
      return done;
    const auto spent = clock::now() - started;
    profiled.finish_run(spent);
    into.run_ms.push_back(std::chrono::duration<double, std::milli>(spent).count());
  } while (ms_since(begin) < with.seconds * 1000 && into.run_ms.size() < max_runs);
  std::ranges::sort(into.run_ms);
  if (with.profiled) {
    into.table = profiled.table();
    into.steps = profiled.json();
  }
  return {};
}

/// A model that a program runs: no plan as a whole, no steps.
result<void> time_program(const exec::model& of, std::span<const shape> dims, const options& with,
                          measured& into) {
  if (with.profiled)
    return troupe::fail(errc::unimplemented, "the model has no plan as a whole to profile");
  std::vector<tensor> inputs;
  for (std::size_t index = 0; index < dims.size(); ++index) {
    const auto& declared = of.io().inputs[index];
    if (declared.type == dtype::string || declared.sequence)
      return troupe::fail(errc::unimplemented, "input '{}' is {}: nothing to make up for it",
                          declared.name, declared.sequence ? "a sequence" : "BYTES");
    const tensor_desc desc{declared.type, dims[index], layout::row_major};
    auto block = make_input(desc);
    const std::span<const std::byte> bytes{block.get(), desc.bytes()};
    inputs.push_back({desc.type, desc.dims, {std::move(block), bytes}});
  }
  if (auto warm = compute(of, inputs); !warm)
    return propagate(warm);
  const auto begin = clock::now();
  do {
    const auto started = clock::now();
    if (auto done = compute(of, inputs); !done)
      return propagate(done);
    into.run_ms.push_back(ms_since(started));
  } while (ms_since(begin) < with.seconds * 1000 && into.run_ms.size() < max_runs);
  std::ranges::sort(into.run_ms);
  return {};
}

result<measured> bench(const options& with) {
  measured made;
  const auto began = clock::now();
  auto model = load_engine(with.engine);
  if (!model)
    return propagate(model);
  made.load_ms = ms_since(began);
  const auto dims = input_dims((*model)->io(), with.engine);
  if (!dims.empty() && !dims[0].empty())
    made.rows = dims[0][0];
  if ((*model)->program()) {
    if (auto timed = time_program(**model, dims, with, made); !timed)
      return propagate(timed);
    made.weight_bytes = (*model)->weight_bytes();
    return made;
  }
  const auto planned = clock::now();
  auto opened = session::open(**model, dims);
  if (!opened)
    return propagate(opened);
  made.plan_ms = ms_since(planned);
  std::vector<std::shared_ptr<std::byte[]>> inputs;
  for (std::size_t index = 0; index < opened->of().inputs.size(); ++index) {
    const auto& input = opened->of().inputs[index];
    if (input.type == dtype::string)
      return troupe::fail(errc::unimplemented, "input '{}' is BYTES: nothing to make up for it",
                          (*model)->io().inputs[index].name);
    inputs.push_back(make_input(input));
    opened->set_input(index, inputs.back().get());
  }
  if (auto timed = time_runs(*opened, with, made); !timed)
    return propagate(timed);
  made.arena_bytes = opened->of().arena_bytes;
  made.weight_bytes = (*model)->weight_bytes();
  return made;
}

void print_json(const measured& what) {
  nlohmann::json document{{"min_ms", what.run_ms.front()},    {"p50_ms", what.percentile(0.5)},
                          {"p99_ms", what.percentile(0.99)},  {"runs", what.run_ms.size()},
                          {"load_ms", what.load_ms},          {"plan_ms", what.plan_ms},
                          {"peak_rss_mb", peak_rss_mb()},     {"arena_bytes", what.arena_bytes},
                          {"weight_bytes", what.weight_bytes}};
  if (!what.steps.is_null())
    document["profile"] = what.steps;
  std::puts(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_text(const measured& what) {
  if (!what.table.empty())
    std::printf("%s\n", what.table.c_str());
  std::printf("min %.3f ms, p50 %.3f ms, p99 %.3f ms (%zu runs), %.1f rows/s\n",
              what.run_ms.front(), what.percentile(0.5), what.percentile(0.99), what.run_ms.size(),
              1000 * static_cast<double>(what.rows) / what.percentile(0.5));
  std::printf("load %.1f ms, plan %.1f ms, arena %.2f MB, weights %.2f MB, peak RSS %.1f MB\n",
              what.load_ms, what.plan_ms, static_cast<double>(what.arena_bytes) / 1e6,
              static_cast<double>(what.weight_bytes) / 1e6, peak_rss_mb());
}

} // namespace

action add_bench(CLI::App& command) {
  auto with = std::make_shared<options>();
  add_model_options(command, with->engine);
  add_shape_options(command, with->engine);
  command.add_option("--seconds", with->seconds, "How long to run")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  command.add_flag("--profile", with->profiled, "Also print the time of every step");
  command.add_flag("--json", with->json, "Print one JSON document");
  return [with] {
    const auto made = bench(*with);
    if (!made)
      return fail(made.error());
    with->json ? print_json(*made) : print_text(*made);
    return 0;
  };
}

} // namespace troupe::cli
