#include "runtime/batching/queue_policy.hpp"

#include <algorithm>

namespace troupe::batching {

namespace {

// Behind every level that somebody would number by hand.
constexpr std::uint32_t ordinary = 100;

} // namespace

std::uint32_t priority_rules::level_of(std::uint64_t asked) const noexcept {
  const auto lowest = levels > 0 ? levels : ordinary;
  if (asked == 0 || (levels > 0 && asked > levels))
    return default_level > 0 ? default_level : lowest;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(asked, UINT32_MAX));
}

const queue_policy& priority_rules::policy_of(std::uint32_t level) const {
  const auto known = by_level.find(level);
  return known == by_level.end() ? standard : known->second;
}

} // namespace troupe::batching
