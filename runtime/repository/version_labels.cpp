#include "runtime/repository/version_labels.hpp"

#include "runtime/repository/parameter_text.hpp"

#include <algorithm>

namespace troupe::repository {

namespace {

constexpr std::int64_t largest_share = 1'000'000;

bool served(const model_folder& of, const std::string& version) {
  return std::any_of(of.versions.begin(), of.versions.end(),
                     [&](const auto& one) { return one.version == version; });
}

bool is_label(const std::string& text) {
  const auto in = [](char c, std::string_view set) { return set.find(c) != set.npos; };
  return std::all_of(text.begin(), text.end(),
                     [&](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                              || in(c, "0123456789._-");
                     })
         && !std::all_of(text.begin(), text.end(), [&](char c) { return in(c, "0123456789"); });
}

using pairs = std::vector<std::pair<std::string, std::string>>;

result<pairs> parameter(const model_folder& of, const std::string& key) {
  const auto at = of.config.parameters.find(key);
  if (at == of.config.parameters.end())
    return pairs{};
  auto made = parse_pairs(key, at->second);
  if (!made)
    return fail(errc::invalid_argument, "model {}: {}", of.name, made.error().text);
  return made;
}

} // namespace

result<placement::version_rules> version_rules_of(const model_folder& of) {
  placement::version_rules made;
  auto labels = parameter(of, "troupe.labels");
  if (!labels)
    return propagate(std::move(labels));
  for (auto& [label, version] : *labels) {
    if (!is_label(label))
      return fail(errc::invalid_argument,
                  "model {}: troupe.labels: expected a name of letters, digits, '.', '_' and '-' "
                  "that is no number, got \"{}\"",
                  of.name, label);
    if (!served(of, version))
      return fail(errc::invalid_argument,
                  "model {}: troupe.labels: \"{}\" is version {}, which the version policy does "
                  "not choose",
                  of.name, label, version);
    made.labels.emplace(std::move(label), std::move(version));
  }
  auto split = parameter(of, "troupe.split");
  if (!split)
    return propagate(std::move(split));
  std::int64_t sum = 0;
  for (auto& [name, share] : *split) {
    const auto label = made.labels.find(name);
    auto version = label == made.labels.end() ? name : label->second;
    if (!served(of, version))
      return fail(errc::invalid_argument,
                  "model {}: troupe.split: \"{}\" is no label and no version that the version "
                  "policy chooses",
                  of.name, name);
    const auto weight = parse_number(share, 0);
    if (!weight || *weight > largest_share)
      return fail(errc::invalid_argument,
                  "model {}: troupe.split: expected a share from 0 to {} for \"{}\", got \"{}\"",
                  of.name, largest_share, name, share);
    if (std::any_of(made.split.begin(), made.split.end(),
                    [&](const auto& one) { return one.version == version; }))
      return fail(errc::invalid_argument, "model {}: troupe.split: version {} is given twice",
                  of.name, version);
    sum += *weight;
    made.split.push_back({std::move(version), static_cast<std::uint32_t>(*weight)});
  }
  if (!split->empty() && sum == 0)
    return fail(errc::invalid_argument, "model {}: troupe.split: nobody has a share", of.name);
  return made;
}

} // namespace troupe::repository
