#include "runtime/placement/device_health.hpp"

#include <algorithm>

namespace troupe::placement {

void device_health::failed(time_point now) {
  std::lock_guard lock(mutex_);
  if (now - last_ > limits_.window && fit_)
    in_a_row_ = 0;
  last_ = now;
  ++failures_;
  if (++in_a_row_ >= limits_.failures)
    fit_ = false;
}

void device_health::fell_silent() noexcept {
  fit_ = false;
}

void device_health::ran() noexcept {
  if (fit_ && in_a_row_ != 0) // asked before: this is for every batch
    in_a_row_ = 0;
}

void device_health::passed_probe() noexcept {
  std::lock_guard lock(mutex_);
  in_a_row_ = std::max(0, limits_.failures - 1);
  fit_ = true;
}

} // namespace troupe::placement
