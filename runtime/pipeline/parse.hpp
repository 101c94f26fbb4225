#pragma once

#include "kernels/base/result.hpp"
#include "runtime/pipeline/definition.hpp"

#include <filesystem>
#include <string_view>

namespace troupe::pipeline {

/// Reads the text of a pipeline.toml as docs/pipelines.md describes it. invalid_argument names the
/// line, or the step and the key. `origin` names the file in errors; paths of models are relative
/// to the folder it is in.
[[nodiscard]] result<definition> parse(std::string_view text, const std::filesystem::path& origin);

/// The same of a file, of at most 1 MiB.
[[nodiscard]] result<definition> read_file(const std::filesystem::path& file);

} // namespace troupe::pipeline
