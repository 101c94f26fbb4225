#pragma once

#include "kernels/base/clock.hpp"

#include <algorithm>

namespace troupe::actors {

/// How long to wait before a dead actor is started again: at once the first time, then doubling
/// from 10 ms to 5 s. Who has lived for three seconds dies for the first time: what is held back is
/// what dies again and again as it starts.
class backoff {
public:
  [[nodiscard]] duration next(time_point now) noexcept {
    using namespace std::chrono_literals;
    if (now - last_ > wait_ + 3s)
      deaths_ = 0;
    last_ = now;
    wait_ = deaths_ == 0 ? duration{0}
                         : std::min<duration>(duration{10ms} * (1 << std::min(deaths_ - 1, 9)), 5s);
    ++deaths_;
    return wait_;
  }

private:
  int deaths_ = 0;
  time_point last_{};
  duration wait_{0}; ///< before the last start
};

} // namespace troupe::actors
