#pragma once

// The subcommands of `troupe`, one file each. A function here declares its options on the command
// it is given and returns what runs once the command line has been read; main.cpp lists them in the
// order in which --help shows them.

#include "kernels/base/error.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <stdexcept>

namespace troupe::cli {

/// Runs a parsed command and returns the program's exit status: 0 or what `fail` gives. May throw;
/// main reports it and exits with 1.
using action = std::function<int()>;

/// A command line that parses but makes no sense as a whole. Main reports it and exits with 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Prints "troupe: " and the text as one line on stderr; returns 1.
int fail(const error& why);

action add_serve(CLI::App& command);
action add_run(CLI::App& command);
action add_bench(CLI::App& command);
action add_inspect(CLI::App& command);
action add_infer(CLI::App& command);
action add_models(CLI::App& command);
action add_simulate(CLI::App& command);

} // namespace troupe::cli
