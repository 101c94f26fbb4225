#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe::cli {

/// SIGTERM, SIGINT and SIGHUP (unless whoever started us ignores that), taken by a thread of their
/// own so that a stop is ordinary code. Before `wait` one of them ends the process with status 0:
/// nothing has been promised to anybody yet. The first one after that ends `wait`, the second ends
/// all patience, the third the process, with status 1. What comes within 200 ms of the one before
/// is the same wish: `timeout`, for one, signals its child and then the whole group.
class stop_signals {
public:
  /// Blocks the signals in this thread and those it makes from here on.
  stop_signals();
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// Returns at the first signal.
  void wait();
  /// Returns after this time, or at the second signal.
  void pause(std::chrono::duration<double> time);
  /// What the second signal calls, on another thread; at once if it came already. Empty: nothing.
  void on_second(std::function<void()> hurry);

private:
  void take();
  void received();

  sigset_t set_{};
  std::mutex mutex_;
  std::condition_variable came_;
  std::function<void()> hurry_;
  bool waiting_ = false;
  bool ended_ = false;
  int count_ = 0; ///< since `wait`
  std::chrono::steady_clock::time_point last_{};
  std::thread thread_;
};

} // namespace troupe::cli
