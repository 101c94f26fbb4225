#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/device/device.hpp"
#include "runtime/graph/graph.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::passes {

struct pass_options {
  std::vector<std::string> disabled{}; ///< names of `pass_names()` that do not run
  device* on = nullptr;                ///< runs constant subgraphs; null: they stay
#ifdef NDEBUG
  bool verify = false;
#else
  bool verify = true;
#endif
};

struct pass_report {
  std::string name;
  duration took{0};
  std::size_t changes = 0;
};

/// All passes, in the order they run first.
[[nodiscard]] std::vector<std::string_view> pass_names();

/// The only way rewrites run: infers types and dims, runs each pass that is not disabled, times it,
/// and compacts the graph at the end (ids change). With `verify`, the graph is checked and inferred
/// again after each pass that changed something, and an error names that pass. invalid_argument on
/// an unknown name in `disabled`. Results of the graph stay as they are, up to the rounding of
/// folded constants.
[[nodiscard]] result<std::vector<pass_report>> run_passes(graph::graph& on,
                                                          const pass_options& options = {});

} // namespace troupe::passes
