#pragma once

#include "kernels/base/clock.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace troupe::bench {

struct traffic {
  std::string pattern = "poisson"; ///< or "bursty": silence, then three times the rate
  double rate = 1;                 ///< requests a second, on average
  duration length{0};
  std::uint64_t seed = 1;
};

/// Times of arrivals, one after the other; none at the end. The same for the same traffic.
[[nodiscard]] std::function<std::optional<duration>()> arrivals(const traffic& of);

} // namespace troupe::bench
