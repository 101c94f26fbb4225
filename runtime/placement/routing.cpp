#include "runtime/placement/routing.hpp"

#include <algorithm>

namespace troupe::placement {

namespace {

// Waiting rows may be of any shape: only the average over all of them is known from outside.
constexpr std::size_t any_shape = 0;

std::optional<duration> fastest(std::span<const load* const> placements, std::size_t shape,
                                std::int64_t rows, time_point now) {
  std::optional<duration> least;
  for (const auto* one : placements)
    if (one->up() && one->measured_lately(now)) {
      const auto run = one->estimated_run(shape, rows);
      least = least ? std::min(*least, run) : run;
    }
  return least;
}

} // namespace

std::size_t earliest(std::span<const load* const> placements, std::size_t shape, std::int64_t rows,
                     time_point now) {
  if (placements.size() == 1)
    return 0;
  std::size_t best = 0;
  auto best_at = time_point::max();
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const auto& one = *placements[i];
    if (!one.up())
      continue;
    auto at = one.estimated_completion(shape, rows, now);
    if (!one.measured_lately(now))
      if (const auto run = fastest(placements, shape, one.waiting_rows() + rows, now))
        at = one.measured() ? std::min(at, one.free_at(now) + *run) : one.free_at(now) + *run;
    if (at < best_at) {
      best = i;
      best_at = at;
    }
  }
  return best;
}

std::optional<std::size_t> to_relieve(std::span<const load* const> placements, std::size_t idle,
                                      std::int64_t most, time_point now) {
  std::optional<std::size_t> behind;
  auto latest = time_point::min();
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const auto& other = *placements[i];
    const auto rows = std::min(most, other.waiting_rows());
    if (i == idle || rows == 0 || (other.up() && !other.busy()))
      continue;
    // Of two of which only one is known the other is taken to be as fast.
    const auto& mine = *placements[idle];
    const auto run_there = (other.measured() ? other : mine).estimated_run(any_shape, rows);
    const auto run_here = (mine.measured() ? mine : other).estimated_run(any_shape, rows);
    const auto end = other.up() ? other.free_at(now) + run_there : time_point::max();
    if (mine.free_at(now) + run_here <= end && end > latest) {
      behind = i;
      latest = end;
    }
  }
  return behind;
}

} // namespace troupe::placement
