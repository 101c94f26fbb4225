// What a request costs besides its model: the identity model in this process, through the embedding
// API and every actor on the way. One at a time says how long the way is; a window of requests in
// flight says how many a machine can move. Prints both, with the CPU time and the calls of the
// allocator for each request.
//   in_process build/models/identity/1/model.onnx [--seconds S] [--window N] [--threads N]

#include "actors/troupe.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace {

std::atomic<std::uint64_t> allocations{0};

} // namespace

// Not inlined: the compiler would take the pair apart and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (auto* made = std::malloc(std::max<std::size_t>(bytes, 1)))
    return made;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* gone) noexcept {
  std::free(gone);
}
[[gnu::noinline]] void operator delete(void* gone, std::size_t) noexcept {
  std::free(gone);
}

namespace {

using clock_type = std::chrono::steady_clock;

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& at) {
    return static_cast<double>(at.tv_sec) + 1e-6 * static_cast<double>(at.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// What was used between its making and `report`.
class meter {
public:
  void report(const char* what, std::uint64_t requests, const std::string& more) const {
    const auto seconds = std::chrono::duration<double>(clock_type::now() - began_).count();
    const auto each = static_cast<double>(requests);
    fmt::print("{:<14} {:>9.0f} requests/s   {:>6.2f} us of CPU   {:>5.1f} allocations   {}\n",
               what, each / seconds, 1e6 * (cpu_seconds() - cpu_) / each,
               static_cast<double>(allocations.load() - allocations_) / each, more);
  }

private:
  clock_type::time_point began_ = clock_type::now();
  double cpu_ = cpu_seconds();
  std::uint64_t allocations_ = allocations.load();
};

class load {
public:
  load(troupe::runtime& on, troupe::tensor input) : on_(on), input_(std::move(input)) {}

  void one_at_a_time(clock_type::duration time) {
    std::vector<double> took;
    const meter used;
    for (const auto end = clock_type::now() + time; clock_type::now() < end;) {
      const auto asked = clock_type::now();
      done_ = false;
      ask([this](const troupe::response_part& part) {
        failed_ += part ? 0 : 1;
        done_ = true;
        done_.notify_one();
      });
      done_.wait(false);
      took.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - asked).count());
    }
    std::sort(took.begin(), took.end());
    used.report("one at a time", took.size(),
                fmt::format("p50 {:.1f} us, p99 {:.1f} us", took[took.size() / 2],
                            took[took.size() * 99 / 100]));
  }

  void pipelined(clock_type::duration time, int window) {
    const meter used;
    end_ = clock_type::now() + time;
    in_flight_ = window;
    for (int i = 0; i < window; ++i)
      again();
    for (auto left = in_flight_.load(); left > 0; left = in_flight_.load())
      in_flight_.wait(left);
    used.report("pipelined", answered_, fmt::format("{} in flight", window));
  }

  [[nodiscard]] std::uint64_t failed() const noexcept { return failed_; }

private:
  template <class Done>
  void ask(Done done) {
    troupe::inference_request request;
    request.model_name = "identity";
    request.inputs.push_back({"x", input_, {}});
    (void)on_.infer(std::move(request), std::move(done));
  }

  // Every answer asks again, on the thread that answers.
  void again() {
    ask([this](const troupe::response_part& part) {
      failed_ += part ? 0 : 1;
      ++answered_;
      if (clock_type::now() < end_)
        return again();
      --in_flight_;
      in_flight_.notify_one();
    });
  }

  troupe::runtime& on_;
  troupe::tensor input_;
  clock_type::time_point end_;
  std::atomic<bool> done_{false};
  std::atomic<int> in_flight_{0};
  std::atomic<std::uint64_t> answered_{0};
  std::atomic<std::uint64_t> failed_{0};
};

int run(const std::string& model, double seconds, int window, int threads) {
  troupe::options with;
  with.scheduler_threads = threads;
  with.max_requests = static_cast<std::size_t>(window) + 1;
  with.batching.preset = "latency";
  auto system = troupe::runtime::start(with);
  if (!system) {
    fmt::print(stderr, "{}\n", troupe::to_string(system.error()));
    return 1;
  }
  if (auto loaded = (*system)->load("identity", model); !loaded) {
    fmt::print(stderr, "{}\n", troupe::to_string(loaded.error()));
    return 1;
  }
  const auto about = (*system)->metadata("identity");
  auto dims = about->inputs.front().shape;
  std::replace_if(
      dims.begin(), dims.end(), [](auto size) { return size < 0; }, 1);
  troupe::tensor_desc desc{troupe::dtype::float32, {dims.begin(), dims.end()}};
  auto block = troupe::allocate_aligned(desc.bytes());
  std::fill_n(block.get(), desc.bytes(), std::byte{0});
  const auto* data = block.get();
  load on{**system, {desc.type, desc.dims, {std::move(block), {data, desc.bytes()}}}};
  const auto time =
      std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(seconds));
  on.one_at_a_time(time / 10); // warm
  on.one_at_a_time(time);
  on.pipelined(time, window);
  if (on.failed() > 0)
    fmt::print(stderr, "{} requests failed\n", on.failed());
  return on.failed() > 0 ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"What a request costs besides its model."};
  std::string model;
  double seconds = 3;
  int window = 1024;
  int threads = 2;
  app.add_option("MODEL", model, "An identity model with one float32 input named x")->required();
  app.add_option("--seconds", seconds, "How long each part runs")->check(CLI::PositiveNumber);
  app.add_option("--window", window, "Requests in flight")->check(CLI::Range(1, 1'000'000));
  app.add_option("--threads", threads, "Of the scheduler")->check(CLI::Range(1, 1024));
  CLI11_PARSE(app, argc, argv);
  return run(model, seconds, window, threads);
}
