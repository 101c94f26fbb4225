#include "apps/troupe/stop_signals.hpp"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <utility>

#include <pthread.h>

namespace troupe::cli {

namespace {

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

} // namespace

stop_signals::stop_signals() {
  sigemptyset(&set_);
  sigaddset(&set_, SIGTERM);
  sigaddset(&set_, SIGINT);
  if (!is_ignored(SIGHUP)) // as under nohup
    sigaddset(&set_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  thread_ = std::thread{[this] { take(); }};
}

stop_signals::~stop_signals() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
}

void stop_signals::take() {
  for (;;) {
    int caught = 0;
    sigwait(&set_, &caught);
    std::lock_guard lock(mutex_);
    if (ended_)
      return;
    received();
  }
}

void stop_signals::received() {
  if (!waiting_) {
    spdlog::info("stopped before it was ready");
    std::_Exit(0);
  }
  const auto now = std::chrono::steady_clock::now();
  if (count_ > 0 && now - std::exchange(last_, now) < std::chrono::milliseconds{200})
    return;
  last_ = now;
  ++count_;
  came_.notify_all();
  if (count_ == 2) {
    spdlog::warn("a second signal: what is not answered yet is given up");
    if (hurry_)
      hurry_();
  } else if (count_ > 2) {
    spdlog::error("a third signal: left at once");
    std::_Exit(1);
  }
}

void stop_signals::wait() {
  std::unique_lock lock(mutex_);
  waiting_ = true;
  came_.wait(lock, [this] { return count_ > 0; });
}

void stop_signals::pause(std::chrono::duration<double> time) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, time, [this] { return count_ > 1; });
}

void stop_signals::on_second(std::function<void()> hurry) {
  std::lock_guard lock(mutex_);
  hurry_ = std::move(hurry);
  if (hurry_ && count_ > 1)
    hurry_();
}

} // namespace troupe::cli
