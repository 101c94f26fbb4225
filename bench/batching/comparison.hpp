#pragma once

// What was measured of a real model's policies, and how `auto` does beside the others.

#include "bench/batching/point.hpp"
#include "bench/batching/real_load.hpp"

#include <string>
#include <vector>

namespace troupe::bench {

/// A policy's turns under one load; turn i of every trial of that load came in the same round.
struct trial {
  std::string model;
  std::string pattern;
  std::string policy;
  duration objective{0}; ///< that the policy kept to
  double load = 0;
  double rate = 0;
  std::vector<turn> turns;
};

/// The trial as a point, judged by an objective (or none).
[[nodiscard]] point point_of(const trial& of, duration objective);

/// Prints, for every load, how `auto` does beside the best other policy: the median of the rounds'
/// ratios and their range. Without an objective the mean latency and the answers a second, with one
/// the answers in time; the best is the one that is best over all rounds.
void print_comparison(const std::vector<trial>& trials, duration objective);

/// Prints what the requests themselves cost the processor.
void print_cost_of_load(const std::vector<trial>& trials);

} // namespace troupe::bench
