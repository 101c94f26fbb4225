#include "bench/batching/real_load.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe::bench {

namespace {

time_point now() {
  return std::chrono::steady_clock::now();
}

duration cpu_of_this_thread() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

// Counts what is under way; callbacks refer to it.
class under_way {
public:
  void began() {
    const std::lock_guard lock{mutex_};
    ++open_;
  }
  void ended() {
    const std::lock_guard lock{mutex_};
    if (--open_ == 0)
      none_.notify_all();
  }
  void wait() {
    std::unique_lock lock{mutex_};
    none_.wait(lock, [this] { return open_ == 0; });
  }

private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::int64_t open_ = 0;
};

} // namespace

turn play(subject& on, const traffic& of) {
  turn made{.length = of.length, .counted_from = of.length / 10};
  for (auto next = arrivals(of); const auto at = next();)
    made.answers.push_back({.due = *at});
  ::prctl(PR_SET_TIMERSLACK, 1UL); // otherwise sleeps last 50 us longer
  under_way open;
  const auto before = on.work_done();
  const auto cpu = cpu_of_this_thread();
  const auto begin = now();
  for (auto& one : made.answers) {
    const auto due = begin + one.due;
    std::this_thread::sleep_until(due);
    made.late += now() - due > std::chrono::milliseconds{1} ? 1 : 0;
    open.began();
    on.ask([&one, &open, due](const response_part& part) {
      one.took = now() - due;
      one.good = part.has_value();
      if (!part)
        one.why = part.error().code;
      open.ended();
    });
  }
  std::this_thread::sleep_until(begin + of.length);
  made.load_cpu = cpu_of_this_thread() - cpu;
  const auto after = on.work_done();
  made.work = {after.batches - before.batches, after.rows - before.rows, after.busy - before.busy};
  open.wait();
  return made;
}

double closed_loop(subject& on, int window, duration length) {
  under_way open;
  std::atomic<std::uint64_t> counted{0};
  const auto begin = now();
  const auto first = begin + length / 10;
  const auto end = begin + length;
  // Every answer asks again, on the thread that answers.
  std::function<void()> next = [&] {
    on.ask([&](const response_part& part) {
      const auto at = now();
      if (part && at >= first && at < end)
        ++counted;
      if (part && at < end)
        return next();
      open.ended();
    });
  };
  for (int i = 0; i < window; ++i) {
    open.began();
    next();
  }
  open.wait();
  return static_cast<double>(counted) / seconds(end - first);
}

actors::simulation::model_outcome judged(std::span<const turn> turns, duration objective) {
  actors::simulation::model_outcome sum;
  for (const auto& one : turns)
    for (const auto& of : one.answers) {
      const auto at = of.due + of.took;
      const bool in_time = of.good && (objective <= duration{0} || of.took <= objective);
      if (of.good && at >= one.counted_from && at <= one.length) {
        ++sum.rows;
        sum.rows_in_time += in_time ? 1 : 0;
      }
      if (of.due < one.counted_from)
        continue;
      ++sum.asked;
      sum.in_time += in_time ? 1 : 0;
      count_answer(sum, of.took, of.good ? std::string_view{} : to_string(of.why));
    }
  std::sort(sum.latencies.begin(), sum.latencies.end());
  return sum;
}

} // namespace troupe::bench
