#pragma once

// What actors of the control path ask of each other. Immutable once sent.

#include "actors/batch.hpp"
#include "actors/served_model.hpp"
#include "actors/troupe.hpp"
#include "kernels/base/result.hpp"
#include "runtime/batching/queue.hpp"
#include "runtime/pipeline/definition.hpp"
#include "runtime/placement/executable.hpp"
#include "runtime/store/lease.hpp"
#include "runtime/store/reservation.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe::actors {

struct model_name {
  std::string name;
  std::string version; ///< empty: all of them, or the server's choice
};

/// A failure as a message.
struct failure {
  std::optional<error> what;
};

/// A listener's port, or why it has none.
struct started {
  result<std::uint16_t> port;
};

/// Bytes of a device's budget for weights, or why there are none.
struct reserved {
  result<std::shared_ptr<store::reservation>> bytes;
};

/// A block of a device's memory, or why there is none.
struct lent {
  result<std::shared_ptr<store::lease>> block;
};

/// A callback that must run on the thread of the stage that asked for it.
struct continuation {
  std::uint64_t generation = 0; ///< of the stage instance it belongs to
  std::function<void(stage_context&)> run;
};
using continuation_ptr = std::shared_ptr<continuation>;

struct loaded_model;

/// Reads and compiles; runs on a storage actor's thread.
using loader = std::function<result<std::vector<loaded_model>>()>;

/// A pipeline as it was declared, and the models that come with it.
struct composition {
  struct part {
    loader load;
    std::string source; ///< where it comes from: two under one name must come from the same place
  };
  pipeline::definition declared;
  std::map<std::string, part> brings;
};

/// What a loader makes of a model: everything but the actors.
struct loaded_model {
  std::string version;
  signature io; ///< as configured
  model_settings settings;
  std::map<std::string, std::string, std::less<>> properties;
  /// One per device, in the devices' order; null where the model is not to run.
  std::vector<std::shared_ptr<placement::executable>> on;
  std::vector<placement::instance_terms> terms; ///< likewise; empty: nothing special
  std::vector<bool> shares_weights;             ///< likewise: with an earlier one; empty: none does
  std::vector<std::vector<tensor>> warm_up;     ///< inputs of requests to run before use
  std::size_t weight_bytes = 0;                 ///< on each device that has its own
  placement::version_rules rules;               ///< of the model: the same for all of its versions
  std::shared_ptr<const composition> composed;  ///< a pipeline: nothing else but the version counts
};

using loaded_ptr = std::shared_ptr<const result<std::vector<loaded_model>>>;

/// Waiting requests that one batcher gives to another; from now on they are the other's.
struct handover {
  std::vector<batching::queue<std::shared_ptr<job::impl>>::item> items;
};
using handover_ptr = std::shared_ptr<handover>;

struct load_order {
  std::string name;
  loader load;
  std::function<void(result<std::vector<loaded_model>>)> done; ///< called on the loading thread
};
using load_order_ptr = std::shared_ptr<const load_order>;

using program_ptr = std::shared_ptr<const placement::program>;

/// A plan, and how long it took to make.
struct made_plan {
  program_ptr program;
  duration took{};
};

/// One missing plan. `done` is called on the planning thread.
struct plan_order {
  std::shared_ptr<placement::executable> of;
  std::vector<shape> dims;
  std::function<void(result<made_plan>)> done;
};
using plan_order_ptr = std::shared_ptr<const plan_order>;

/// A batcher to be spawned for one placement of a model; answered with a failure, empty if it
/// stands.
struct place_order {
  model_ptr model;
  const placed* where = nullptr;
};
using place_order_ptr = std::shared_ptr<const place_order>;

/// A stage to be hosted under an id.
struct stage_order {
  stage_id id = 0;
  std::string name;
  stage_factory make;
};
using stage_order_ptr = std::shared_ptr<const stage_order>;

/// Something to load under a name, and who wants to know. No loader: the repository's.
struct load_request {
  std::string name;
  loader load;
  std::string source{};  ///< where the loader takes it from
  stage_factory make;    ///< a stage instead of a model
  stage_signature stage; ///< its inputs and outputs
  std::function<void(result<void>)> done;
};
using load_request_ptr = std::shared_ptr<const load_request>;

/// A question to the catalog, answered on its thread.
struct query {
  enum class what { metadata, ready, index, statistics } of = what::index;
  model_name about;
  std::function<void(result<protocol::model_metadata>)> metadata;
  std::function<void(result<bool>)> ready;
  std::function<void(result<std::vector<protocol::model_index_entry>>)> index;
  std::function<void(result<std::vector<protocol::model_statistics>>)> statistics;
};
using query_ptr = std::shared_ptr<const query>;

} // namespace troupe::actors
