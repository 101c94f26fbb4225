#include "runtime/pipeline/order.hpp"

#include <algorithm>

namespace troupe::pipeline {

namespace {

// Takes, again and again, what needs nothing that is left. Few hundred steps at most.
std::vector<std::size_t> take_all(const needs_of& needs, std::vector<bool>& taken) {
  std::vector<std::size_t> order;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < needs.size(); ++i) {
      if (taken[i] || !std::all_of(needs[i].begin(), needs[i].end(), [&](auto one) {
            return static_cast<bool>(taken[one]);
          }))
        continue;
      taken[i] = true;
      order.push_back(i);
      more = true;
    }
  }
  return order;
}

} // namespace

std::optional<std::vector<std::size_t>> in_order(const needs_of& needs) {
  std::vector<bool> taken(needs.size(), false);
  auto order = take_all(needs, taken);
  return order.size() == needs.size() ? std::optional{std::move(order)} : std::nullopt;
}

// Whatever cannot be taken needs something else that cannot: following that comes round.
std::vector<std::size_t> find_cycle(const needs_of& needs) {
  std::vector<bool> taken(needs.size(), false);
  take_all(needs, taken);
  auto at = static_cast<std::size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
  std::vector<std::size_t> path;
  while (true) {
    const auto before = std::find(path.begin(), path.end(), at);
    if (before != path.end())
      return {before, path.end()};
    path.push_back(at);
    at = *std::find_if(needs[at].begin(), needs[at].end(), [&](auto one) { return !taken[one]; });
  }
}

} // namespace troupe::pipeline
