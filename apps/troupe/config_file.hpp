#pragma once

#include "kernels/base/result.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>

namespace troupe::cli {

/// Gives the options of `command` that the command line left out their values from a TOML file: a
/// key is an option's long name without dashes, a value a string, number, boolean or an array of
/// those. invalid_argument names an unknown key, and a value that does not fit its option.
[[nodiscard]] result<void> apply_config_file(CLI::App& command, const std::filesystem::path& file);

} // namespace troupe::cli
