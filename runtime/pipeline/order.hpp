#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace troupe::pipeline {

/// `needs[i]`: what has to come before i.
using needs_of = std::vector<std::vector<std::size_t>>;

/// An order in which everything comes after what it needs, otherwise as given; nothing if there is
/// none.
[[nodiscard]] std::optional<std::vector<std::size_t>> in_order(const needs_of& needs);

/// Some that wait for each other, each for the next and the last for the first. `needs` has no
/// order.
[[nodiscard]] std::vector<std::size_t> find_cycle(const needs_of& needs);

} // namespace troupe::pipeline
