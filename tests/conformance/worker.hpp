#pragma once

#include "tests/conformance/run_case.hpp"

#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace troupe::conformance {

/// Runs the cases in processes of their own, `jobs` at a time, and hands on each outcome as it
/// comes. A process that dies takes one case with it, whose outcome it becomes; the next process
/// goes on with the case after it. To be called before this process has threads.
void run_apart(const std::filesystem::path& suite, std::span<const std::string> cases, int jobs,
               const std::function<void(const std::string& name, outcome)>& hand_on);

} // namespace troupe::conformance
