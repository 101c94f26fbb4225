#pragma once

#include "kernels/device/device.hpp"
#include "kernels/op/datum.hpp"
#include "runtime/plan/build.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace troupe::dynamic {

/// What the parts of a program need to make plans. All outlive the program.
struct tools {
  device* on = nullptr;   ///< runs plans; the host reads its memory
  device* host = nullptr; ///< computes what is known before any data
  weight_cache* weights = nullptr;
  plan::tuning* tuned = nullptr; ///< as of plan::build_options
  std::size_t max_plans = 64;    ///< of each region; least recently used leave
};

/// What one run is given. Of the thread that runs.
struct run_context {
  stream& on;
  /// Whether nobody waits for the outcome any more; asked between the iterations of loops.
  std::function<bool()> stopped;

  [[nodiscard]] result<void> check() const {
    if (stopped && stopped())
      return fail(errc::cancelled, "nobody waits for the outcome any more");
    return {};
  }
};

} // namespace troupe::dynamic
