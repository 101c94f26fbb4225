#include "runtime/placement/resource_pool.hpp"

#include <algorithm>
#include <utility>

namespace troupe::placement {

namespace {

bool share_one(const std::vector<resource_need>& a, const std::vector<resource_need>& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& one) {
    return std::any_of(b.begin(), b.end(), [&](const auto& other) {
      return one.name == other.name && one.scope == other.scope;
    });
  });
}

} // namespace

resource_claim::resource_claim(resource_pool& of, std::vector<resource_need> needs,
                               std::function<void()> freed)
    : pool_(of), needs_(std::move(needs)), freed_(std::move(freed)) {}

resource_claim::~resource_claim() {
  pool_.leave(*this);
}

bool resource_claim::take() {
  return pool_.take(*this);
}

void resource_pool::provide(const resource_need& least) {
  std::lock_guard lock(mutex_);
  auto& capacity = capacity_[{least.name, least.scope}];
  capacity = std::max(capacity, least.count);
}

std::int64_t resource_pool::available(const std::string& name, std::uint32_t scope) const {
  std::lock_guard lock(mutex_);
  const key of{name, scope};
  const auto all = capacity_.find(of);
  const auto used = used_.find(of);
  return (all == capacity_.end() ? 0 : all->second) - (used == used_.end() ? 0 : used->second);
}

bool resource_pool::behind_others(const resource_claim& claim) const {
  for (const auto* earlier : waiting_) {
    if (earlier == &claim)
      return false;
    if (share_one(earlier->needs_, claim.needs_))
      return true;
  }
  return false;
}

bool resource_pool::take(resource_claim& claim) {
  std::lock_guard lock(mutex_);
  if (claim.held_)
    return true;
  const bool enough = std::all_of(claim.needs_.begin(), claim.needs_.end(), [&](const auto& need) {
    return used_[{need.name, need.scope}] + need.count <= capacity_[{need.name, need.scope}];
  });
  if (!enough || behind_others(claim)) {
    if (!std::exchange(claim.waits_, true))
      waiting_.push_back(&claim);
    return false;
  }
  for (const auto& need : claim.needs_)
    used_[{need.name, need.scope}] += need.count;
  std::erase(waiting_, &claim);
  claim.held_ = true;
  claim.waits_ = false;
  return true;
}

void resource_pool::leave(resource_claim& claim) {
  std::vector<std::function<void()>> freed;
  {
    std::lock_guard lock(mutex_);
    std::erase(waiting_, &claim);
    if (claim.held_)
      for (const auto& need : claim.needs_)
        used_[{need.name, need.scope}] -= need.count;
    // Also one that only waited may have been in somebody's way.
    for (const auto* other : waiting_)
      if (share_one(other->needs_, claim.needs_))
        freed.push_back(other->freed_);
  }
  for (const auto& tell : freed)
    tell();
}

} // namespace troupe::placement
