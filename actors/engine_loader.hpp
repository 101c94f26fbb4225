#pragma once

#include "actors/catalog_actor.hpp"
#include "runtime/exec/plan_budget.hpp"
#include "runtime/plan/tuning.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace troupe::actors {

/// What every load follows.
struct loading_setup {
  options with;
  std::vector<std::shared_ptr<troupe::device>> devices;
  std::shared_ptr<exec::plan_budget> plans{}; ///< of all models together
  std::shared_ptr<plan::tuning> tuning{};     ///< null: kernels in the order of the table
};

/// `devices`: at least one.
[[nodiscard]] loading_setup loading_for(options with,
                                        std::vector<std::shared_ptr<troupe::device>> devices);

/// Opens the devices by their addresses; at least one.
[[nodiscard]] result<std::vector<std::shared_ptr<troupe::device>>>
open_devices(const std::vector<std::string>& addresses);

/// Loads one model from an ONNX file or from a directory laid out as in a repository, or a pipeline
/// from a TOML file.
[[nodiscard]] result<loader> loader_for(const std::string& name, const std::filesystem::path& from,
                                        loading_setup setup);

/// The model repository of the options; without one, a source that lists nothing and finds nothing.
[[nodiscard]] result<model_source> repository_source(loading_setup setup);

} // namespace troupe::actors
