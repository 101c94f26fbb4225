#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/base/result.hpp"
#include "kernels/tensor/dtype.hpp"
#include "runtime/batching/queue_policy.hpp"
#include "runtime/repository/sequence_config.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::repository {

struct tensor_config {
  std::string name;
  std::optional<dtype> type;      ///< none: the model's
  std::vector<std::int64_t> dims; ///< without the batch axis where the model batches; -1 is free
  std::string label_file;         ///< of an output, relative to the model's folder
  bool optional = false;          ///< of an input
};

struct dynamic_batching_config {
  std::vector<std::int64_t> preferred; ///< rows
  duration max_queue_delay{0};
  bool preserve_ordering = false;
  batching::priority_rules priorities;
};

/// Where a model runs, how many batches of it at once, and what each of them holds.
struct instance_group {
  enum class kind : std::uint8_t { any, cpu, gpu };
  struct resource {
    std::string name;
    bool global = false; ///< one for all devices; otherwise each has its own
    std::int64_t count = 1;
  };
  kind on = kind::any;
  int count = 0;                  ///< 0: not said
  std::vector<std::int64_t> gpus; ///< which of them; empty: all
  std::uint32_t priority = 0; ///< of the rate limiter: a flow of priority 2 gets half of the time
  std::vector<resource> resources;
};

/// Models that exchange tensors: by step, the model's names and the ensemble's.
struct ensemble_config {
  struct step {
    std::string model;
    std::string version; ///< empty: the latest
    std::map<std::string, std::string> inputs;
    std::map<std::string, std::string> outputs;
  };
  std::vector<step> steps;
};

struct version_policy {
  enum class kind : std::uint8_t { latest, all, specific };
  kind which = kind::latest;
  std::uint32_t latest = 1;
  std::vector<std::int64_t> specific;
};

/// What a config.pbtxt says, as far as it is followed. A default one stands for no file at all.
struct model_config {
  std::string name;
  std::optional<std::int64_t> max_batch_size; ///< none: the file does not say
  std::vector<tensor_config> inputs;
  std::vector<tensor_config> outputs;
  std::string model_file = "model.onnx";
  std::optional<dynamic_batching_config> dynamic_batching;
  std::optional<ensemble_config> ensemble;  ///< other models instead of a file
  std::optional<sequence_config> sequences; ///< of a stateful model; not both
  std::vector<instance_group> instance_groups;
  version_policy versions;
  std::map<std::string, std::string> parameters;
  std::vector<std::string> warnings; ///< what was skipped, a line each
};

/// Parses the text of a config.pbtxt (protobuf text format). Unknown fields are skipped and become
/// warnings; wrong values, other backends than ONNX and features that change the result are
/// invalid_argument or unimplemented, with line and column where there is one. `origin` names the
/// file in errors.
[[nodiscard]] result<model_config> parse_model_config(std::string_view text,
                                                      std::string_view origin);

} // namespace troupe::repository
