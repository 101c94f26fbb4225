#pragma once

#include "kernels/base/clock.hpp"

#include <mutex>

namespace troupe::placement {

/// What one device has been given to do, by all the models that share it. Thread-safe: every
/// batcher writes, the router reads.
class device_load {
public:
  /// A batch was handed over that is expected to take so long.
  void started(duration expected, time_point now);
  /// It is through, or lost; `expected` as it was said then.
  void ended(duration expected, time_point now);

  /// When the device is expected to be through with everything it was given; never before `now`.
  [[nodiscard]] time_point free_at(time_point now) const;

private:
  mutable std::mutex mutex_;
  duration outstanding_{0};
  time_point since_{}; ///< when the one that runs began
};

} // namespace troupe::placement
