#pragma once

#include "kernels/base/clock.hpp"

#include <algorithm>

namespace troupe::actors {

/// How long to wait before a dead actor is started again: at once the first time, then doubling
/// from 10 ms to 5 s; a minute without a death forgets the past.
class backoff {
public:
  [[nodiscard]] duration next(time_point now) noexcept {
    using namespace std::chrono_literals;
    if (deaths_ > 0 && now - last_ > 60s)
      deaths_ = 0;
    last_ = now;
    const auto wait = deaths_ == 0 ? duration{0} : duration{10ms} * (1 << std::min(deaths_ - 1, 9));
    ++deaths_;
    return std::min<duration>(wait, 5s);
  }

private:
  int deaths_ = 0;
  time_point last_{};
};

} // namespace troupe::actors
