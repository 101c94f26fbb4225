#pragma once

#include <chrono>

namespace troupe {

/// Monotonic time, counted in nanoseconds everywhere in the project.
using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

/// Where time comes from: injected, so that tests and simulations can turn it by hand.
/// `now` may be called from any thread.
class clock_source {
public:
  virtual ~clock_source() = default;
  [[nodiscard]] virtual time_point now() const noexcept = 0;
};

/// The machine's monotonic clock.
class steady_clock_source final : public clock_source {
public:
  [[nodiscard]] time_point now() const noexcept override {
    return std::chrono::steady_clock::now();
  }
};

} // namespace troupe
