#pragma once

#include "actors/commons.hpp"
#include "actors/interfaces.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::actors {

/// A device as the catalog sees it.
struct device_place {
  stage_id device = 0;
  stage_id memory = 0;
  std::shared_ptr<placement::device_load> load = std::make_shared<placement::device_load>();
};

/// Where models come from when only a name is given.
struct model_source {
  std::function<std::vector<std::string>()> list;
  std::function<result<loader>(const std::string& name)> find;
};

/// Knows every model and its versions. A load goes through steps: storage reads and compiles,
/// memory books the weights, the supervisor places a batcher, a warm-up request passes it; then all
/// versions are published at once. One load of a name at a time; those who ask meanwhile share its
/// outcome.
class catalog_state {
public:
  static inline const char* name = "catalog";

  explicit catalog_state(catalog_actor::pointer self) : self_(self) {}

  catalog_actor::behavior_type make_behavior(commons_ptr shared, std::vector<device_place> devices,
                                             model_source source);

private:
  struct entry {
    std::string state = "UNAVAILABLE";
    std::string reason;
    std::vector<model_ptr> versions; ///< as published
    placement::version_rules rules;
    std::uint64_t load = 0; ///< the load under way
  };
  struct load_step {
    model_ptr model;
    std::size_t placement = 0;
    std::size_t device = 0; ///< among the catalog's
    std::vector<std::vector<tensor>> warm_up;
    std::size_t weight_bytes = 0;
  };
  struct load {
    std::string name;
    std::vector<std::function<void(result<void>)>> waiters;
    std::vector<load_step> steps; ///< one per placement
    placement::version_rules rules;
    std::size_t at = 0;     ///< the step under way
    std::size_t warmed = 0; ///< requests of that step
  };
  struct booking {
    stage_id memory = 0;
    std::size_t bytes = 0;
  };

  void begin(const load_request_ptr& asked);
  void host(const load_request_ptr& asked);
  void loaded(std::uint64_t number, const result<std::vector<loaded_model>>& outcome);
  void place(std::uint64_t number);
  void placed_one(std::uint64_t number, const failure& outcome);
  void warm(std::uint64_t number);
  void publish(std::uint64_t number);
  void abort(std::uint64_t number, const error& why);
  void unload(const load_request& asked);
  void retire(const served_model& old);
  void retired(stage_id batcher);
  void announce(const std::string& model, const entry& what) const;
  void publish_all() const;
  void book_again(stage_id memory) const;
  template <class Work>
  void survive_load(std::uint64_t number, Work work);
  void answer(const query& asked) const;
  [[nodiscard]] result<model_ptr> find(const model_name& about) const;
  [[nodiscard]] std::vector<protocol::model_index_entry> index() const;

  catalog_actor::pointer self_;
  commons_ptr shared_;
  std::vector<device_place> devices_;
  model_source source_;
  std::map<std::string, entry> models_;
  std::unordered_map<std::uint64_t, load> loads_;
  std::unordered_map<stage_id, booking> booked_; ///< weights, by batcher
  std::size_t next_storage_ = 0;
};

/// Spawn with `sys.spawn(catalog, shared, devices, source)`.
catalog_actor::behavior_type catalog(catalog_actor::stateful_pointer<catalog_state> self,
                                     commons_ptr shared, std::vector<device_place> devices,
                                     model_source source);

} // namespace troupe::actors
