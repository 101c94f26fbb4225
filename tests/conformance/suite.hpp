#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::conformance {

/// The cases of a suite by name: folders that hold a model.onnx, in order. Cases of operators that
/// train (the domain ai.onnx.preview.training) are left out: Troupe runs models, it trains none.
[[nodiscard]] std::vector<std::string> cases_of(const std::filesystem::path& suite);

/// Whether a name matches a pattern in which '*' stands for any text.
[[nodiscard]] bool matches(std::string_view name, std::string_view pattern);

} // namespace troupe::conformance
