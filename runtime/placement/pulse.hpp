#pragma once

#include "kernels/base/clock.hpp"

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

namespace troupe::placement {

/// What a device's stream holds, and since when it has not got on with it. Thread-safe: the device
/// writes, somebody else watches, who need not look while the device has nothing to do.
class pulse {
public:
  /// Work goes to the stream, which is to be through with it within `limit` once it is through
  /// with all before it. Whether somebody has to look earlier than was meant.
  [[nodiscard]] bool began(std::uint64_t ticket, duration limit, time_point now);
  [[nodiscard]] bool ended(std::uint64_t ticket, time_point now);
  /// The stream is gone with all it held.
  void clear();

  /// When the device is to have got on, if it holds anything: somebody looks again then. Otherwise
  /// nobody watches from now on.
  [[nodiscard]] std::optional<time_point> due();

private:
  struct work {
    std::uint64_t ticket;
    duration limit;
  };

  [[nodiscard]] bool look_earlier(); ///< locked

  std::mutex mutex_;
  std::deque<work> held_;
  time_point since_{};                       ///< the first of them is next
  time_point next_look_ = time_point::max(); ///< somebody looks then
};

} // namespace troupe::placement
