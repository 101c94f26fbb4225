#pragma once

#include <mutex>
#include <utility>

namespace troupe::protocol::net {

/// Stands between the system's threads, which may answer at any time, and an io_context that may be
/// gone by then. Whoever wants to post enters first; closing waits for those inside.
class gate {
public:
  /// Runs `inside` unless the gate is closed. Any thread; `inside` must not block or close the
  /// gate.
  template <class F>
  void enter(F&& inside) {
    std::lock_guard lock{mutex_};
    if (open_)
      std::forward<F>(inside)();
  }

  void close() {
    std::lock_guard lock{mutex_};
    open_ = false;
  }

private:
  std::mutex mutex_;
  bool open_ = true;
};

} // namespace troupe::protocol::net
