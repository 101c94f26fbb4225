#pragma once

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"
#include "runtime/placement/version_rules.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::actors {

/// Owns the route table.
class router_state {
public:
  static inline const char* name = "router";

  explicit router_state(router_actor::pointer self) : self_(self) {}

  /// `load_on_miss`: a model that is not there is asked of the catalog, once for all who wait.
  /// `complete`: the table is; if not, jobs wait for `up`.
  router_actor::behavior_type make_behavior(commons_ptr shared, bool load_on_miss, bool complete);

private:
  /// A model: its versions, and whose turn it is.
  struct table_entry {
    routes_ptr routes;
    placement::version_chooser chooser;
  };

  void submit(const job_ptr& asked);
  void route(const job_ptr& asked);
  void up();
  void miss(const job_ptr& asked);
  [[nodiscard]] result<model_ptr> find(const inference_request& request);
  [[nodiscard]] result<model_ptr> version_for(const inference_request& request);
  [[nodiscard]] model_ptr version_of_sequence(const inference_request& request) const;
  [[nodiscard]] std::vector<model_ptr> stateful_versions(const std::string& model) const;
  [[nodiscard]] const placed& place(const job::impl& asked) const;
  [[nodiscard]] result<void> place_step(job::impl& asked) const;
  void forget_in_other_versions(const job::impl& asked) const;
  [[nodiscard]] bool stands(const placed& one) const;
  void publish(const routes_ptr& served);
  void retire(const model_name& gone);
  void loaded(const model_name& tried, const failure& outcome);

  router_actor::pointer self_;
  commons_ptr shared_;
  bool load_on_miss_ = false;
  bool complete_ = true;
  std::vector<job_ptr> early_; ///< came before the table was complete
  std::unordered_map<std::string, table_entry> routes_;
  /// Versions that were replaced while sequences of theirs were live, in the order of their ends.
  std::unordered_map<std::string, std::vector<std::weak_ptr<const served_model>>> former_;
  std::unordered_map<std::string, std::vector<job_ptr>> waiting_; ///< for a load under way
};

/// Spawn with `sys.spawn(router, shared, load_on_miss, complete)`.
router_actor::behavior_type router(router_actor::stateful_pointer<router_state> self,
                                   commons_ptr shared, bool load_on_miss, bool complete);

} // namespace troupe::actors
