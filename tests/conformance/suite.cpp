#include "tests/conformance/suite.hpp"

#include <algorithm>
#include <array>

namespace troupe::conformance {
namespace {

constexpr std::array training{"test_adagrad*", "test_adam*", "test_gradient_of_*", "test_momentum*",
                              "test_nesterov_momentum*"};

} // namespace

std::vector<std::string> cases_of(const std::filesystem::path& suite) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator{suite}) {
    auto name = entry.path().filename().string();
    const auto trains = [&](const char* pattern) { return matches(name, pattern); };
    if (std::filesystem::exists(entry.path() / "model.onnx")
        && std::ranges::none_of(training, trains))
      found.push_back(std::move(name));
  }
  std::ranges::sort(found);
  return found;
}

bool matches(std::string_view name, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos)
    return name == pattern;
  if (!name.starts_with(pattern.substr(0, star)))
    return false;
  const auto rest = pattern.substr(star + 1);
  for (auto skip = star; skip <= name.size(); ++skip)
    if (matches(name.substr(skip), rest))
      return true;
  return false;
}

} // namespace troupe::conformance
