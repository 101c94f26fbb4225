#include "runtime/placement/device_load.hpp"

#include <algorithm>

namespace troupe::placement {

void device_load::started(duration expected, time_point now) {
  std::lock_guard lock(mutex_);
  if (outstanding_ <= duration{0})
    since_ = now;
  outstanding_ += expected;
}

void device_load::ended(duration expected, time_point now) {
  std::lock_guard lock(mutex_);
  outstanding_ = std::max(duration{0}, outstanding_ - expected);
  since_ = now;
}

// What runs may be over its estimate already: time is never counted backwards.
time_point device_load::free_at(time_point now) const {
  std::lock_guard lock(mutex_);
  return std::max(now, since_ + outstanding_);
}

} // namespace troupe::placement
