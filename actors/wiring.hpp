#pragma once

#include "actors/catalog_actor.hpp"
#include "actors/commons.hpp"
#include "actors/supervisor_actor.hpp"
#include "actors/troupe.hpp"
#include "kernels/device/device.hpp"

#include <memory>
#include <vector>

namespace troupe::actors {

/// What a system is made of.
struct system_parts {
  options with;
  std::vector<std::shared_ptr<troupe::device>> devices;
  std::shared_ptr<const clock_source> clock = std::make_shared<steady_clock_source>();
  model_source source;
  bool load_on_miss = false;
  std::shared_ptr<capture_recorder> recorder{}; ///< of what happens; null: none
};

/// How actors run. Tests that turn time by hand keep all of them on the scheduler.
struct spawning {
  bool detached = true;  ///< storage has threads of its own
  unsigned storages = 0; ///< 0: as many as there are cores, at most 4
};

/// Fills `shared` from the parts and lists every actor that is there from the beginning, in the
/// order in which they start. The ids in `shared` are set; nothing runs yet.
[[nodiscard]] std::vector<child_spec> wire(const commons_ptr& shared, const system_parts& parts,
                                           spawning how);

} // namespace troupe::actors
