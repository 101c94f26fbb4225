#pragma once

#include "actors/orders.hpp"
#include "runtime/placement/version_rules.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::actors {

/// What the catalog knows of every model. Outlives the actor that keeps it; only one does at a
/// time.
struct catalog_books {
  struct entry {
    std::string state = "UNAVAILABLE";
    std::string reason;
    std::vector<model_ptr> versions; ///< as published
    placement::version_rules rules;
    std::uint64_t load = 0; ///< the load under way
    std::string source;     ///< where it comes from; empty: the repository
  };
  struct load_step {
    std::shared_ptr<served_model> model;
    std::size_t placement = 0;
    std::size_t device = 0; ///< among the catalog's
    std::vector<std::vector<tensor>> warm_up;
    std::size_t weight_bytes = 0;
  };
  struct load {
    std::string name;
    std::string source;
    std::vector<std::function<void(result<void>)>> waiters;
    std::vector<load_step> steps; ///< one per placement
    placement::version_rules rules;
    std::size_t at = 0;                            ///< the step under way
    std::size_t warmed = 0;                        ///< requests of that step
    std::shared_ptr<const composition> composed{}; ///< a pipeline
    std::string version{};                         ///< its
    std::size_t missing = 0;                       ///< models that it waits for
    int refused = 0; ///< times that blocks at work were in the way of its weights; 0: they are in
  };

  std::map<std::string, entry> models;
  std::unordered_map<std::uint64_t, load> loads;
  std::size_t next_storage = 0;
};

} // namespace troupe::actors
