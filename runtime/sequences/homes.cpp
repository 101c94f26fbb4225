#include "runtime/sequences/homes.hpp"

namespace troupe::sequences {

std::pair<homes::home, homes::hold> homes::enter(const sequence_id& id, std::size_t placement) {
  std::lock_guard lock(mutex_);
  const home made{placement, ++last_};
  if (const auto before = live_.find(id); before != live_.end())
    --at_[before->second.placement];
  live_.insert_or_assign(id, made);
  ++at_[placement];
  return {made, hold{shared_from_this(), id, made.generation}};
}

std::optional<homes::home> homes::find(const sequence_id& id) const {
  std::lock_guard lock(mutex_);
  const auto at = live_.find(id);
  return at == live_.end() ? std::nullopt : std::optional{at->second};
}

void homes::forget(const sequence_id& id) {
  std::lock_guard lock(mutex_);
  const auto at = live_.find(id);
  if (at == live_.end())
    return;
  --at_[at->second.placement];
  live_.erase(at);
}

std::size_t homes::size() const {
  std::lock_guard lock(mutex_);
  return live_.size();
}

std::size_t homes::size_at(std::size_t placement) const {
  std::lock_guard lock(mutex_);
  const auto at = at_.find(placement);
  return at == at_.end() ? 0 : at->second;
}

void homes::leave(const sequence_id& id, std::uint64_t generation) noexcept {
  std::lock_guard lock(mutex_);
  const auto at = live_.find(id);
  if (at == live_.end() || at->second.generation != generation)
    return; // another has its name
  --at_[at->second.placement];
  live_.erase(at);
}

} // namespace troupe::sequences
