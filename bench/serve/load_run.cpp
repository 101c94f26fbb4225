#include "bench/serve/load_run.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

namespace troupe::bench {
namespace {

time_point now() {
  return std::chrono::steady_clock::now();
}

double quantile_of(const std::vector<std::uint64_t>& sorted_ns, double q) {
  if (sorted_ns.empty())
    return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted_ns.size())));
  return static_cast<double>(sorted_ns[std::max<std::size_t>(rank, 1) - 1]) / 1e6;
}

/// What both loops share: the answers so far, and how many are missing.
class tally {
public:
  void sent() {
    std::lock_guard lock{mutex_};
    ++open_;
  }

  void answered(const client::response_part& part, time_point due, bool counts) {
    const auto took = now() - due;
    std::lock_guard lock{mutex_};
    if (counts && part) {
      result_.latencies_ns.push_back(static_cast<std::uint64_t>(took.count()));
      last_ = now();
    } else if (!part) {
      // A failure during warm-up is one all the same.
      const std::string code{to_string(part.error().code)};
      ++result_.failures[code];
      if (counts && part.error().code == errc::resource_exhausted)
        result_.refusals_ns.push_back(static_cast<std::uint64_t>(took.count()));
      result_.examples.try_emplace(code, part.error().text);
    }
    if (counts)
      ++result_.sent;
    if (--open_ == 0)
      done_.notify_all();
  }

  load_result finish(time_point first) {
    std::unique_lock lock{mutex_};
    done_.wait(lock, [this] { return open_ == 0; });
    std::sort(result_.latencies_ns.begin(), result_.latencies_ns.end());
    std::sort(result_.refusals_ns.begin(), result_.refusals_ns.end());
    result_.seconds = last_ > first ? std::chrono::duration<double>(last_ - first).count() : 0;
    return std::move(result_);
  }

private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::uint64_t open_ = 0;
  time_point last_{};
  load_result result_;
};

load_result closed_loop(const std::vector<std::unique_ptr<client::client>>& over,
                        const client::inference_request& request, const load_plan& plan) {
  tally counted;
  const auto start = now();
  const auto first = start + plan.warm_up;
  const auto end = first + plan.measured;
  // Runs on the clients' threads once begun; everything it refers to outlives `finish`.
  std::function<void(client::client&)> next = [&](client::client& on) {
    const auto due = now();
    counted.sent();
    on.infer(request, [&, due](const client::response_part& part) {
      // Being refused for overload is part of load. Any other failure would only repeat itself.
      const bool hopeless = !part && part.error().code != errc::resource_exhausted;
      if (now() < end && !hopeless)
        next(on);
      counted.answered(part, due, due >= first);
    });
  };
  for (std::size_t i = 0; i < plan.concurrency; ++i)
    next(*over[i % over.size()]);
  return counted.finish(first);
}

// Copies of `request` at the plan's rate, until its time is over. Both outlive what is returned.
schedule_fn arrivals(const client::inference_request& request, const load_plan& plan) {
  return [&request, &plan, random = std::mt19937_64{plan.seed},
          gap = std::exponential_distribution<double>{*plan.rate},
          at = duration{0}]() mutable -> result<std::optional<timed_request>> {
    if (at >= plan.warm_up + plan.measured)
      return std::optional<timed_request>{};
    const double wait = plan.poisson ? gap(random) : 1 / *plan.rate;
    const auto due = std::exchange(
        at, at + std::chrono::duration_cast<duration>(std::chrono::duration<double>{wait}));
    return timed_request{due, request};
  };
}

} // namespace

std::uint64_t load_result::failed() const {
  return std::accumulate(failures.begin(), failures.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

double load_result::quantile_ms(double q) const {
  return quantile_of(latencies_ns, q);
}

double load_result::refusal_ms(double q) const {
  return quantile_of(refusals_ns, q);
}

double load_result::mean_ms() const {
  if (latencies_ns.empty())
    return 0;
  const auto sum = std::accumulate(latencies_ns.begin(), latencies_ns.end(), 0.0);
  return sum / static_cast<double>(latencies_ns.size()) / 1e6;
}

result<load_result> run_schedule(const std::vector<std::unique_ptr<client::client>>& over,
                                 const schedule_fn& next, duration warm_up) {
  tally counted;
  std::uint64_t late = 0;
  auto one = next();
  const auto start = now();
  const auto first = start + warm_up;
  for (std::size_t i = 0; one && *one; ++i) {
    const auto due = start + (*one)->at;
    std::this_thread::sleep_until(due);
    late += due >= first && now() - due > std::chrono::milliseconds{1};
    counted.sent();
    over[i % over.size()]->infer(std::move((*one)->request),
                                 [&counted, due, first](const client::response_part& part) {
                                   counted.answered(part, due, due >= first);
                                 });
    one = next();
  }
  auto done = counted.finish(first);
  if (!one)
    return propagate(std::move(one));
  done.late = late;
  return done;
}

load_result run_load(const std::vector<std::unique_ptr<client::client>>& over,
                     const client::inference_request& request, const load_plan& plan) {
  return plan.rate ? run_schedule(over, arrivals(request, plan), plan.warm_up).value()
                   : closed_loop(over, request, plan);
}

} // namespace troupe::bench
