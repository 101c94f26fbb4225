#pragma once

#include "actors/catalog_books.hpp"
#include "actors/commons.hpp"
#include "actors/interfaces.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::actors {

/// A device as the catalog sees it.
struct device_place {
  stage_id device = 0;
  stage_id memory = 0;
  std::shared_ptr<placement::device_load> load = std::make_shared<placement::device_load>();
  std::shared_ptr<const placement::device_health> health{};
};

/// Where models come from when only a name is given.
struct model_source {
  std::function<std::vector<std::string>()> list;
  std::function<result<loader>(const std::string& name)> find;
};

/// Knows every model and its versions. A load goes through steps: storage reads and compiles,
/// memory books the weights, the supervisor places a batcher, a warm-up request passes it; then all
/// versions are published at once. A pipeline has other steps: the models it calls are loaded where
/// they are not there, then it is compiled against them and its stage is hosted. One load of a name
/// at a time; those who ask meanwhile share its outcome.
class catalog_state {
public:
  static inline const char* name = "catalog";

  explicit catalog_state(catalog_actor::pointer self) : self_(self) {}

  catalog_actor::behavior_type make_behavior(commons_ptr shared, std::vector<device_place> devices,
                                             model_source source,
                                             std::shared_ptr<catalog_books> books);

private:
  using entry = catalog_books::entry;

  void begin(const load_request_ptr& asked);
  void host(const load_request_ptr& asked);
  void loaded(std::uint64_t number, const result<std::vector<loaded_model>>& outcome);
  void place(std::uint64_t number);
  void refused(std::uint64_t number, const error& why);
  void go_on(std::uint64_t number, const failure& outcome);
  void placed_one(std::uint64_t number, const failure& outcome);
  void warm(std::uint64_t number);
  void publish(std::uint64_t number);
  void compose(std::uint64_t number, const loaded_model& made);
  [[nodiscard]] std::optional<std::string> source_of(const std::string& model) const;
  void call_for(std::uint64_t number, const std::string& model);
  void needed(std::uint64_t number);
  void host_composed(std::uint64_t number);
  [[nodiscard]] bool depends(const std::string& who, const std::string& on) const;
  [[nodiscard]] std::string missing_for(const served_model& of) const;
  void abort(std::uint64_t number, const error& why);
  void unload(const load_request& asked);
  void retire(const served_model& old);
  void give_up_loads();
  void announce(const std::string& model, const entry& what) const;
  void publish_all() const;
  template <class Work>
  void survive_load(std::uint64_t number, Work work);
  void answer(const query& asked) const;
  [[nodiscard]] result<model_ptr> find(const model_name& about) const;
  [[nodiscard]] std::vector<protocol::model_index_entry> index() const;

  catalog_actor::pointer self_;
  commons_ptr shared_;
  std::vector<device_place> devices_;
  model_source source_;
  std::shared_ptr<catalog_books> books_;
};

/// Spawn with `sys.spawn(catalog, shared, devices, source, books)`.
catalog_actor::behavior_type catalog(catalog_actor::stateful_pointer<catalog_state> self,
                                     commons_ptr shared, std::vector<device_place> devices,
                                     model_source source, std::shared_ptr<catalog_books> books);

} // namespace troupe::actors
