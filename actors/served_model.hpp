#pragma once

#include "actors/job.hpp"
#include "runtime/batching/padding.hpp"
#include "runtime/batching/policy.hpp"
#include "runtime/batching/queue_policy.hpp"
#include "runtime/exec/signature.hpp"
#include "runtime/placement/device_health.hpp"
#include "runtime/placement/executable.hpp"
#include "runtime/placement/instances.hpp"
#include "runtime/placement/load.hpp"
#include "runtime/placement/version_rules.hpp"
#include "runtime/sequences/homes.hpp"
#include "runtime/sequences/rules.hpp"
#include "runtime/store/reservation.hpp"
#include "runtime/telemetry/probe.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe::actors {

/// What of a model's configuration the actors follow.
struct model_settings {
  batching::policy batching;
  batching::priority_rules priorities;
  std::int64_t max_queue_rows = 4096;
  bool stateless = true; ///< a failed batch may run again
  batching::padding padding;
  std::vector<std::string> softmax; ///< outputs whose last axis becomes probabilities
  std::shared_ptr<const sequences::rules> sequences; ///< null: requests have nothing in common
};

/// A model version on one device, or the one stage behind a name: where its requests go first.
struct placed {
  stage_id entry = 0;  ///< the batcher, or the stage
  stage_id device = 0; ///< 0 for a stage
  stage_id memory = 0; ///< of the device
  std::shared_ptr<placement::executable> runs;
  placement::instance_terms terms{};
  std::shared_ptr<store::reservation> weights; ///< their bytes in the device's books
  std::shared_ptr<placement::load> load = std::make_shared<placement::load>();
  std::shared_ptr<const placement::device_health> health; ///< of the device; null for a stage

  /// Whether requests are to be sent there.
  [[nodiscard]] bool fit() const noexcept { return !health || health->fit(); }
};

/// One version of a model as it is served. Immutable, shared by its requests; holds no handles,
/// which would keep actors alive beyond the system: stages are ids, resolved at each hop.
struct served_model {
  std::string name;
  std::string version;
  std::string platform; ///< "onnx", "stage", "pipeline" or "ensemble"
  signature io;
  model_settings settings;
  std::map<std::string, std::string, std::less<>> properties; ///< what the file says of itself
  std::vector<placed> placements;
  std::vector<std::string> needs; ///< models that a pipeline calls
  std::shared_ptr<telemetry::probe> probe = std::make_shared<telemetry::probe>();
  std::uint32_t captured_as = 0;           ///< its number in a capture
  std::shared_ptr<sequences::homes> homes; ///< of a stateful model

  /// Whether any of its placements is.
  [[nodiscard]] bool fit() const noexcept {
    return std::any_of(placements.begin(), placements.end(),
                       [](const auto& one) { return one.fit(); });
  }
};

/// Whether code stands behind the name, not a network.
[[nodiscard]] inline bool is_hosted(const served_model& of) {
  return of.platform == "stage" || of.platform == "pipeline" || of.platform == "ensemble";
}

using model_ptr = std::shared_ptr<const served_model>;

/// The versions of a model that are served together, and how requests are spread over them.
struct model_routes {
  std::string name;
  std::vector<model_ptr> versions;
  placement::version_rules rules;
};

using routes_ptr = std::shared_ptr<const model_routes>;

} // namespace troupe::actors
