#pragma once

// What a policy gives under one load: what both programs here measure, print and write.

#include "actors/simulation/scenario.hpp"

#include <string>
#include <vector>

namespace troupe::bench {

/// One point: a policy under one load.
struct point {
  std::string device; ///< or the model that is served
  std::string pattern;
  std::string policy;
  double objective_ms = 0; ///< 0: none
  double load = 0;         ///< of the device's capacity
  double rate = 0;         ///< requests a second, one row each

  double throughput = 0; ///< answers a second
  double goodput = 0;    ///< of them within the objective; without one, all
  double in_time = 0;    ///< share of all requests that are answered within the objective
  double refused = 0;    ///< share
  double expired = 0;    ///< share, after they had waited
  double busy = 0;       ///< share of the time
  double rows = 0;       ///< of a batch, on average
  double mean_ms = 0;
  double p50_ms = 0;
  double p99_ms = 0;
};

[[nodiscard]] double seconds(duration of);
[[nodiscard]] duration as_duration(double seconds);

/// Everything of a point that follows from what became of its requests, which came within `span`.
void set_outcome(point& to, const actors::simulation::model_outcome& of, duration span);

void print_point_head();
void print(const point& one);

/// The points as a JSON array; internal where the file cannot be written.
[[nodiscard]] result<void> write_json(const std::string& file, const std::vector<point>& points);

} // namespace troupe::bench
