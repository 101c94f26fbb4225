#include "runtime/placement/version_rules.hpp"

#include <algorithm>
#include <utility>

namespace troupe::placement {

namespace {

std::optional<std::size_t> index_of(std::span<const std::string> versions, std::string_view one) {
  const auto at = std::find(versions.begin(), versions.end(), one);
  if (at == versions.end())
    return std::nullopt;
  return static_cast<std::size_t>(at - versions.begin());
}

} // namespace

bool lower_version(std::string_view a, std::string_view b) noexcept {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::optional<std::size_t> choose_version(std::span<const std::string> versions,
                                          const version_rules& rules, std::string_view asked) {
  if (versions.empty())
    return std::nullopt;
  if (!asked.empty()) {
    const auto label = rules.labels.find(asked);
    return index_of(versions, label == rules.labels.end() ? asked : label->second);
  }
  const version_rules::share* largest = nullptr;
  for (const auto& one : rules.split)
    if ((!largest || one.weight > largest->weight) && index_of(versions, one.version))
      largest = &one;
  if (largest)
    return index_of(versions, largest->version);
  const auto highest = std::max_element(versions.begin(), versions.end(), lower_version);
  return static_cast<std::size_t>(highest - versions.begin());
}

version_chooser::version_chooser(std::vector<std::string> versions, version_rules rules)
    : versions_(std::move(versions)), rules_(std::move(rules)) {
  for (const auto& one : rules_.split)
    if (const auto at = index_of(versions_, one.version); at && one.weight > 0)
      turns_.push_back({*at, one.weight, 0});
}

// Each turn everybody earns their weight and whoever has most pays the sum of all.
std::optional<std::size_t> version_chooser::next(std::string_view asked) {
  if (!asked.empty() || turns_.empty())
    return choose_version(versions_, rules_, asked);
  std::int64_t sum = 0;
  turn* chosen = &turns_.front();
  for (auto& one : turns_) {
    sum += one.weight;
    one.credit += one.weight;
    if (one.credit > chosen->credit)
      chosen = &one;
  }
  chosen->credit -= sum;
  return chosen->version;
}

} // namespace troupe::placement
