#pragma once

#include "actors/admission.hpp"
#include "actors/live_jobs.hpp"
#include "actors/stage_table.hpp"
#include "runtime/placement/device_health.hpp"
#include "runtime/placement/pulse.hpp"
#include "runtime/placement/resource_pool.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace troupe::actors {

/// What is known of a device from outside.
struct device_signs {
  stage_id id = 0;
  std::shared_ptr<placement::device_health> health;
  std::shared_ptr<placement::pulse> pulse = std::make_shared<placement::pulse>();
  duration silence = std::chrono::seconds{30}; ///< the least time that it may take for a batch
};

/// What every actor of one system shares. Thread-safe members only.
struct commons {
  std::shared_ptr<const clock_source> clock;
  std::shared_ptr<stage_table> stages = std::make_shared<stage_table>();
  std::shared_ptr<live_jobs> live;
  std::shared_ptr<admission_budget> budget;
  std::shared_ptr<placement::resource_pool> resources =
      std::make_shared<placement::resource_pool>();
  duration default_deadline = std::chrono::seconds{60};
  /// Runs long computations of stages; tests run them at once.
  std::function<void(std::function<void()>)> offload;

  /// For tickets, batches and orders: never given twice, so that a late answer to an actor that was
  /// restarted meanwhile names nothing.
  [[nodiscard]] std::uint64_t fresh_number() noexcept { return ++last_number; }
  std::atomic<std::uint64_t> last_number{0};

  stage_id router = 0;
  stage_id preprocess = 0;
  stage_id postprocess = 0;
  stage_id catalog = 0;
  stage_id watchdog = 0;
  std::vector<stage_id> storages;
  std::vector<stage_id> devices;   ///< in the order in which they were given
  std::vector<device_signs> signs; ///< of the devices, in the same order
  stage_id supervisor = 0;
};

using commons_ptr = std::shared_ptr<commons>;

} // namespace troupe::actors
