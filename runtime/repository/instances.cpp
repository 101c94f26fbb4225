#include "runtime/repository/instances.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace troupe::repository {

namespace {

using kind = instance_group::kind;

// `gpu` is the device's number among those of its kind.
bool meant(const instance_group& group, std::string_view device, std::int64_t gpu) {
  const bool is_gpu = device == "cuda";
  if (group.on == kind::cpu && is_gpu)
    return false;
  if (group.on == kind::gpu && device == "cpu")
    return false;
  if (group.gpus.empty() || device == "cpu")
    return true;
  return std::any_of(group.gpus.begin(), group.gpus.end(), [&](auto one) { return one == gpu; });
}

placement::instance_terms terms_of(const instance_group& group, std::uint32_t device) {
  placement::instance_terms made;
  made.instances = group.count;
  made.share = 1.0 / std::max(1u, group.priority);
  for (const auto& one : group.resources)
    made.resources.push_back({one.name, one.global ? 0 : device + 1, one.count});
  return made;
}

bool same_claims(const placement::instance_terms& a, const placement::instance_terms& b) {
  return a.share == b.share
         && std::equal(a.resources.begin(), a.resources.end(), b.resources.begin(),
                       b.resources.end(), [](const auto& one, const auto& other) {
                         return one.name == other.name && one.scope == other.scope
                                && one.count == other.count;
                       });
}

} // namespace

result<std::vector<std::optional<placement::instance_terms>>>
instances_on(const model_folder& of, const std::vector<std::string_view>& devices) {
  std::vector<std::optional<placement::instance_terms>> made(devices.size());
  if (of.config.instance_groups.empty()) {
    made.assign(devices.size(), placement::instance_terms{});
    return made;
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto number =
        std::count(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i), devices[i]);
    for (const auto& group : of.config.instance_groups) {
      if (!meant(group, devices[i], number))
        continue;
      auto terms = terms_of(group, static_cast<std::uint32_t>(i));
      if (!made[i]) {
        made[i] = std::move(terms);
        continue;
      }
      if (!same_claims(*made[i], terms))
        return fail(errc::unimplemented,
                    "model {}: two groups of instances on the device {} have different "
                    "rate_limiters",
                    of.name, devices[i]);
      made[i]->instances += terms.instances;
    }
  }
  if (std::none_of(made.begin(), made.end(), [](const auto& one) { return one.has_value(); }))
    return fail(errc::invalid_argument,
                "model {}: instance_group: no device of the kind it asks for; there are: {}",
                of.name, fmt::join(devices, ", "));
  return made;
}

} // namespace troupe::repository
