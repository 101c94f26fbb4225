#pragma once

// A model repository on disk: DIR/<model>/<version>/model.onnx, DIR/<model>/config.pbtxt; or
// DIR/<pipeline>/pipeline.toml.

#include "runtime/repository/model_config.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace troupe::repository {

struct version_folder {
  std::string version; ///< a decimal number without leading zeros
  std::filesystem::path file;
};

/// A model as it lies on disk.
struct model_folder {
  std::string name;
  std::filesystem::path folder;
  model_config config;
  std::vector<version_folder> versions; ///< those that the version policy chooses, ascending
};

/// Of a folder that holds a pipeline instead of a model.
inline constexpr const char* pipeline_file = "pipeline.toml";

/// Names of the folders of `repository` that hold a model, in order. not_found if it is no folder.
[[nodiscard]] result<std::vector<std::string>> list_models(const std::filesystem::path& repository);

/// Reads one model's folder. The name in its configuration, if there is one, must be `name`.
/// not_found if there is no version that the policy chooses. The versions of an ensemble have no
/// files.
[[nodiscard]] result<model_folder> read_model(const std::string& name,
                                              const std::filesystem::path& folder);

/// A model from one ONNX file: version 1, no configuration.
[[nodiscard]] result<model_folder> single_file(const std::string& name,
                                               const std::filesystem::path& file);

/// Whether a folder is laid out as one model: version folders, a configuration or a pipeline.
[[nodiscard]] bool is_model_folder(const std::filesystem::path& folder);

/// One label a line; an empty last line does not count.
[[nodiscard]] result<std::vector<std::string>> read_labels(const std::filesystem::path& file);

} // namespace troupe::repository
