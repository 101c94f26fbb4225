#pragma once

#include "bench/batching/frontier.hpp"

#include <vector>

namespace troupe::bench {

/// Prints what `auto` has to reach and whether it does, by the points that are there; false if not.
///
/// The best fixed policy is, without an objective, the one with the lowest mean latency among those
/// that answer 99 % of the requests (overloaded, the one with the most answers a second); with an
/// objective, the one with the most answers in time. A policy meets an objective if 99 % of all
/// requests are answered within it.
[[nodiscard]] bool report_goals(const std::vector<bench_device>& devices,
                                const std::vector<point>& points);

} // namespace troupe::bench
