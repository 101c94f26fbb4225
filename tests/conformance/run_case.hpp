#pragma once

#include <filesystem>
#include <string>

namespace troupe::conformance {

enum class verdict : char {
  pass = 'p',
  refused = 'r', ///< `unimplemented`: Troupe says that it does not run this
  wrong = 'w',   ///< another error, or a result that is not the expected one
  crashed = 'c', ///< the process died, or took too long
};

[[nodiscard]] const char* to_string(verdict of) noexcept;

struct outcome {
  verdict is = verdict::pass;
  std::string why;
};

/// Runs a case the way a program would: load, plan, run, on a CPU device of one thread, with the
/// optimiser's passes and without them. The first shortcoming counts.
[[nodiscard]] outcome run_case(const std::filesystem::path& directory);

} // namespace troupe::conformance
