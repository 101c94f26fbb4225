#include "actors/stage_table.hpp"

#include <mutex>
#include <utility>

namespace troupe::actors {

// Old handles are released outside the lock: the last one of an actor runs its destructor.
void stage_table::put(stage_id id, caf::strong_actor_ptr to) {
  std::unique_lock lock(mutex_);
  std::swap(stages_[id], to);
  lock.unlock();
}

void stage_table::clear(stage_id id) {
  std::unique_lock lock(mutex_);
  auto old = stages_.extract(id);
  lock.unlock();
}

void stage_table::clear_all() {
  std::unique_lock lock(mutex_);
  auto old = std::exchange(stages_, {});
  lock.unlock();
}

bool stage_table::holds(stage_id id) const {
  std::shared_lock lock(mutex_);
  return stages_.contains(id);
}

caf::strong_actor_ptr stage_table::find(stage_id id) const {
  std::shared_lock lock(mutex_);
  const auto at = stages_.find(id);
  return at == stages_.end() ? nullptr : at->second;
}

} // namespace troupe::actors
