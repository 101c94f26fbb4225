#include "runtime/exec/plan_budget.hpp"

#include "runtime/exec/plan_cache.hpp"

#include <algorithm>

namespace troupe::exec {

std::size_t plan_budget::default_for(std::size_t memory_bytes) noexcept {
  return std::max<std::size_t>(memory_bytes / 32, std::size_t{64} << 20);
}

void plan_budget::join(plan_cache& member) {
  const std::lock_guard lock{mutex_};
  members_.push_back(&member);
}

void plan_budget::leave(plan_cache& member) {
  const std::lock_guard lock{mutex_};
  std::erase(members_, &member);
}

void plan_budget::trim() {
  if (used_ <= limit_)
    return;
  const std::lock_guard lock{mutex_};
  while (used_ > limit_) {
    plan_cache* oldest = nullptr;
    std::uint64_t since = 0;
    std::size_t plans = 0;
    for (auto* member : members_) {
      const auto seen = member->oldest();
      plans += seen.plans;
      if (seen.plans > 0 && (!oldest || seen.used < since)) {
        oldest = member;
        since = seen.used;
      }
    }
    if (plans < 2)
      return; // one plan larger than all that is allowed: better than none
    oldest->drop_oldest();
  }
}

} // namespace troupe::exec
