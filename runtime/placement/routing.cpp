#include "runtime/placement/routing.hpp"

namespace troupe::placement {

std::size_t earliest(std::span<const load* const> placements, std::int64_t rows, time_point now) {
  if (placements.size() == 1)
    return 0;
  std::size_t best = 0;
  auto best_at = time_point::max();
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const auto at = placements[i]->estimated_completion(rows, now);
    if (at < best_at) {
      best = i;
      best_at = at;
    }
  }
  return best;
}

} // namespace troupe::placement
