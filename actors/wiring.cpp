#include "actors/wiring.hpp"

#include "actors/device_actor.hpp"
#include "actors/hand_on.hpp"
#include "actors/memory_actor.hpp"
#include "actors/postprocess_actor.hpp"
#include "actors/preprocess_actor.hpp"
#include "actors/router_actor.hpp"
#include "actors/storage_actor.hpp"
#include "actors/watchdog_actor.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <thread>
#include <utility>

namespace troupe::actors {

namespace {

unsigned storage_threads() noexcept {
  return std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
}

template <class Spawn>
std::function<caf::strong_actor_ptr(caf::actor_system&)> spawned(Spawn spawn) {
  return
      [spawn](caf::actor_system& in) { return caf::actor_cast<caf::strong_actor_ptr>(spawn(in)); };
}

// Page-locked memory is taken from everybody else in the machine: enough for a few batches.
std::size_t budget_of(memory_kind of, const options& with, const device_properties& about) {
  constexpr std::size_t enough_pinned = std::size_t{512} << 20;
  if (of == memory_kind::device)
    return with.device_memory_bytes ? with.device_memory_bytes : about.memory_bytes;
  return with.pinned_memory_bytes ? with.pinned_memory_bytes
                                  : std::min(about.memory_bytes / 4, enough_pinned);
}

void fill(commons& shared, const system_parts& parts, const std::weak_ptr<commons>& self) {
  shared.clock = parts.clock;
  shared.default_deadline = parts.with.default_deadline;
  shared.budget =
      std::make_shared<admission_budget>(parts.with.max_requests, parts.with.max_request_bytes);
  // Weak: jobs hold the list and may outlive the system, in the hands of a slow callback.
  shared.live = std::make_shared<live_jobs>(
      parts.clock,
      [self](time_point) {
        if (const auto held = self.lock())
          tell<watchdog_actor>(*held, held->watchdog, up_atom_v);
      },
      parts.recorder);
}

} // namespace

std::vector<child_spec> wire(const commons_ptr& shared, const system_parts& parts, spawning how) {
  fill(*shared, parts, shared);
  auto& stages = *shared->stages;
  std::vector<child_spec> made;
  auto add = [&](std::string name, auto spawn) {
    const auto id = stages.fresh_id();
    made.push_back({id, std::move(name), spawned(std::move(spawn)), 0, {}});
    return id;
  };
  shared->supervisor = stages.fresh_id();
  shared->watchdog =
      add("watchdog", [shared](caf::actor_system& in) { return in.spawn(watchdog, shared); });
  made.back().restarted = [shared] {
    tell<watchdog_actor>(*shared, shared->watchdog, up_atom_v); // a deadline may have come between
  };
  shared->preprocess =
      add("preprocess", [shared](caf::actor_system& in) { return in.spawn(preprocess, shared); });
  shared->postprocess =
      add("postprocess", [](caf::actor_system& in) { return in.spawn(postprocess); });
  for (unsigned i = 0; i < (how.storages ? how.storages : storage_threads()); ++i)
    shared->storages.push_back(add("storage", [shared, how](caf::actor_system& in) {
      return how.detached ? in.spawn<caf::detached>(storage, shared) : in.spawn(storage, shared);
    }));
  std::vector<device_place> places;
  for (const auto& on : parts.devices) {
    const auto& about = on->properties();
    placement::device_health::limits failing;
    failing.failures = std::max(1, parts.with.device_failures);
    const auto health = std::make_shared<placement::device_health>(about.name, failing);
    device_place place{stages.fresh_id(), stages.fresh_id()};
    place.health = health;
    device_signs signs{place.device, health};
    signs.silence = parts.with.device_silence;
    shared->signs.push_back(signs);
    device_setup setup{on, place.device, {}, stream_mode::own_thread, signs};
    for (const auto of : store::memory_kinds) {
      if (of == memory_kind::host && about.host_visible)
        continue; // nothing is copied
      // The books refer to the device, and outlive whoever keeps them.
      const auto books = std::shared_ptr<store::ledger>{
          new store::ledger{*on, {.budget_bytes = budget_of(of, parts.with, about)}, of},
          [on](store::ledger* gone) { delete gone; }};
      const auto id = setup.memory[of] =
          of == memory_kind::device ? place.memory : stages.fresh_id();
      made.push_back(
          {id,
           fmt::format("{} of {}", of == memory_kind::device ? "memory" : "host memory",
                       about.name),
           spawned([=](caf::actor_system& in) {
             return in.spawn(memory, shared, id, place.device, books);
           }),
           0, [shared, place, of] { tell<device_actor>(*shared, place.device, up_atom_v, of); }});
    }
    made.push_back({place.device, "device " + about.name,
                    spawned([=](caf::actor_system& in) { return in.spawn(device, shared, setup); }),
                    std::max(1, about.tickets),
                    [shared, place] { tell<device_actor>(*shared, place.device, probe_atom_v); },
                    health});
    places.push_back(place);
    shared->devices.push_back(place.device);
  }
  auto complete = std::make_shared<bool>(true); // at first there is nothing to know
  shared->router = add("router", [=, miss = parts.load_on_miss](caf::actor_system& in) {
    return in.spawn(router, shared, miss, std::exchange(*complete, false));
  });
  made.back().restarted = [shared] { tell<catalog_actor>(*shared, shared->catalog, up_atom_v); };
  const auto books = std::make_shared<catalog_books>();
  shared->catalog =
      add("catalog", [shared, places, books, source = parts.source](caf::actor_system& in) {
        return in.spawn(catalog, shared, places, source, books);
      });
  // A router that was restarted meanwhile had nobody to ask.
  made.back().restarted = [shared] { tell<catalog_actor>(*shared, shared->catalog, up_atom_v); };
  return made;
}

} // namespace troupe::actors
