#pragma once

#include "kernels/base/clock.hpp"

#include <cstdint>
#include <map>

namespace troupe::batching {

/// What happens to requests that wait: config.pbtxt's `queue_policy`.
struct queue_policy {
  enum class overdue : std::uint8_t {
    reject, ///< answered with an error
    delay,  ///< served after everything that is not overdue
  };
  overdue action = overdue::reject;
  duration timeout{0};           ///< longest wait in the queue; 0: as the deadline allows
  bool allow_override = false;   ///< a request's own timeout counts where it is shorter
  std::int64_t max_requests = 0; ///< of this priority in the queue; 0: the model's own bound alone
};

/// Priorities of a model: 1 is the highest, larger numbers come later.
struct priority_rules {
  std::uint32_t levels = 0;        ///< 0: any number counts as a priority
  std::uint32_t default_level = 0; ///< of requests that bring none; 0: the lowest
  queue_policy standard;
  std::map<std::uint32_t, queue_policy> by_level; ///< where it differs from `standard`

  /// The level of a request that asks for `asked` (0: for none), within `levels`.
  [[nodiscard]] std::uint32_t level_of(std::uint64_t asked) const noexcept;
  [[nodiscard]] const queue_policy& policy_of(std::uint32_t level) const;
};

} // namespace troupe::batching
