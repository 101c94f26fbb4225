#pragma once

#include "kernels/base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace troupe::actors {

/// When an actor is to be woken next. A message that was sent for later cannot be taken back: where
/// ever earlier times are asked for, those for later ones pile up until they are due. So none is
/// sent for farther than a second ahead, and one that was overtaken is not replaced when it comes.
class alarm {
public:
  /// To be woken at `at`, or a second from now: how long from now the message is to come. None if
  /// an earlier one is on its way.
  [[nodiscard]] std::optional<duration> set(time_point at, time_point now) noexcept {
    at = std::clamp(at, now, now + farthest);
    if (at_ && *at_ <= at)
      return std::nullopt;
    at_ = at;
    return at - now;
  }

  /// A message came.
  void rang(time_point now) noexcept {
    if (at_ && *at_ <= now)
      at_.reset();
  }

private:
  static constexpr std::chrono::seconds farthest{1};

  std::optional<time_point> at_;
};

} // namespace troupe::actors
