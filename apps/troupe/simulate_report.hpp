#pragma once

#include "actors/simulation/replay.hpp"

#include <string>

namespace troupe::cli {

/// A table of what was measured and what the simulation gives, on stdout.
void print_simulation(const std::string& file, const actors::simulation::captured& from,
                      const std::string& how, const actors::simulation::outcome& played);

/// The same as one JSON document; times in milliseconds.
void print_simulation_json(const actors::simulation::captured& from,
                           const actors::simulation::outcome& played);

} // namespace troupe::cli
