#pragma once

#include "actors/job.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>

#include <shared_mutex>
#include <unordered_map>

namespace troupe::actors {

/// Who stands behind a stage id at this moment: a restart changes the entry, not the ids in
/// requests. Thread-safe. Emptied before the actor system goes.
class stage_table {
public:
  [[nodiscard]] stage_id fresh_id() noexcept { return ++last_; }

  template <class Handle>
  void set(stage_id id, const Handle& to) {
    put(id, caf::actor_cast<caf::strong_actor_ptr>(to));
  }

  void clear(stage_id id);
  void clear_all();

  /// Whether anybody is there.
  [[nodiscard]] bool holds(stage_id id) const;
  /// A null handle if nobody is there.
  template <class Handle>
  [[nodiscard]] Handle get(stage_id id) const {
    return caf::actor_cast<Handle>(find(id));
  }

private:
  void put(stage_id id, caf::strong_actor_ptr to);
  [[nodiscard]] caf::strong_actor_ptr find(stage_id id) const;

  std::atomic<stage_id> last_{0};
  mutable std::shared_mutex mutex_;
  std::unordered_map<stage_id, caf::strong_actor_ptr> stages_;
};

} // namespace troupe::actors
