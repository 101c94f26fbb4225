#include "runtime/placement/routing.hpp"

#include <algorithm>

namespace troupe::placement {

namespace {

// Numbers of any length compare by length first; folders are scanned without leading zeros.
bool lower(std::string_view a, std::string_view b) noexcept {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

} // namespace

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

std::optional<std::size_t> choose_version(std::span<const std::string> versions,
                                          std::string_view asked) {
  if (versions.empty())
    return std::nullopt;
  const auto at = asked.empty() ? std::max_element(versions.begin(), versions.end(), lower)
                                : std::find(versions.begin(), versions.end(), asked);
  if (at == versions.end())
    return std::nullopt;
  return static_cast<std::size_t>(at - versions.begin());
}

} // namespace troupe::placement
