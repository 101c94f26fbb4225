#pragma once

#include "actors/troupe.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe::actors {

class capture_recorder;

/// Every job that is not answered yet: what the watchdog looks through and what a stop waits for.
/// Thread-safe. Jobs link themselves in, so that entering and leaving allocate nothing.
class live_jobs {
public:
  /// The part of a job that this list owns.
  struct link {
    link* before = nullptr;
    link* after = nullptr;
    job::impl* owner = nullptr;
    time_point deadline{};
  };

  /// `on_earlier(at)` is called, on the thread that enters a job, when its deadline is before all
  /// those known: somebody has to look at `at`.
  /// `recorder`, if there is one, is told what becomes of those that it knows.
  explicit live_jobs(std::shared_ptr<const clock_source> clock,
                     std::function<void(time_point)> on_earlier = {},
                     std::shared_ptr<capture_recorder> recorder = {})
      : clock_(std::move(clock)), on_earlier_(std::move(on_earlier)),
        recorder_(std::move(recorder)) {}

  [[nodiscard]] time_point now() const noexcept { return clock_->now(); }
  [[nodiscard]] const std::shared_ptr<capture_recorder>& recorder() const noexcept {
    return recorder_;
  }

  /// `added` has its owner and deadline set.
  void enter(link& added);
  /// The deadline of a job that has entered moves to a later time.
  void extend(link& of, time_point later);
  /// Harmless when not entered.
  void leave(link& gone) noexcept;

  [[nodiscard]] std::size_t count() const;
  /// Those that were made as parts of `parent`.
  [[nodiscard]] std::vector<std::shared_ptr<job::impl>> children_of(const job::impl& parent) const;
  /// All of them, kept alive by the list returned.
  [[nodiscard]] std::vector<std::shared_ptr<job::impl>> all() const;
  /// Those whose deadline is over; `next` becomes the earliest deadline of the others, if any.
  [[nodiscard]] std::vector<std::shared_ptr<job::impl>> expired(time_point now,
                                                                std::optional<time_point>& next);

  /// From now on a job that is dropped says that the server shut down.
  void close() noexcept { closed_ = true; }
  [[nodiscard]] bool closed() const noexcept { return closed_; }

  /// Blocks until there is none, or until `deadline` or `hurry`: whether there is none.
  bool wait_empty(std::chrono::steady_clock::time_point deadline);
  /// Nobody waits any longer.
  void hurry();

private:
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::shared_ptr<const clock_source> clock_;
  std::function<void(time_point)> on_earlier_;
  std::shared_ptr<capture_recorder> recorder_;
  link* first_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<bool> closed_{false};
  bool hurried_ = false;
  time_point next_look_ = time_point::max();
};

} // namespace troupe::actors
