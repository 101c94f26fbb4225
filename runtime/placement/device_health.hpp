#pragma once

#include "kernels/base/clock.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace troupe::placement {

/// Whether a device is fit for work. It is not once it has failed too often without having run
/// anything in between, or has fallen silent; it is again when it has passed a probe. Thread-safe.
class device_health {
public:
  struct limits {
    int failures = 3;                           ///< one after the other that make it unfit
    duration window = std::chrono::seconds{60}; ///< who has not failed for so long begins anew
  };

  device_health(std::string name, limits with) : name_(std::move(name)), limits_(with) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool fit() const noexcept { return fit_; }
  /// Failures altogether.
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

  /// It was lost or did not start.
  void failed(time_point now);
  /// It holds work and does not get anywhere: unfit at once. To be said before it is given up.
  void fell_silent() noexcept;
  /// A batch ran well.
  void ran() noexcept;
  /// What an unfit device was given to try it ran well: fit, but the next failure counts as the
  /// last one before.
  void passed_probe() noexcept;

private:
  const std::string name_;
  const limits limits_;
  std::atomic<bool> fit_{true};
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<int> in_a_row_{0};
  std::mutex mutex_;
  time_point last_{};
};

} // namespace troupe::placement
