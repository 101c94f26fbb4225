#pragma once

#include "kernels/base/clock.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace troupe::sim {

/// A clock that calls back. Callbacks fire in the order of their times, and of `at` for equal ones;
/// they may call `at`. Thread-safe.
class timeline : public clock_source {
public:
  using callback = std::function<void()>;
  virtual void at(time_point when, callback fire) = 0;
};

/// Time that stands still until somebody turns it. Starts one hour after the clock's epoch.
class virtual_timeline final : public timeline {
public:
  [[nodiscard]] time_point now() const noexcept override;
  void at(time_point when, callback fire) override;

  /// Moves time on by `by`, firing what falls due on the way, each with `now()` at its own time, on
  /// the calling thread. An advance by zero fires what is due already.
  void advance(duration by);
  /// Moves to the next callback and fires it; false when none is left.
  bool step();
  /// When the next callback is due.
  [[nodiscard]] std::optional<time_point> next() const;
  /// Callbacks that wait.
  [[nodiscard]] std::size_t pending() const;

private:
  bool fire_next(time_point limit);

  mutable std::mutex mutex_;
  time_point now_{std::chrono::hours{1}};
  std::multimap<time_point, callback> waiting_;
};

/// Real time, with one thread that fires. Its destructor fires what is left at once, in order.
[[nodiscard]] std::shared_ptr<timeline> make_real_timeline();

} // namespace troupe::sim
