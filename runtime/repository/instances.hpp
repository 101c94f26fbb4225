#pragma once

#include "runtime/placement/instances.hpp"
#include "runtime/repository/layout.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace troupe::repository {

/// What `instance_group` says of each device, given by kind ("cpu", "cuda", "sim") in the server's
/// order: none where the model is not to run. Without a group, everywhere on equal terms. Groups
/// that name the same device add their counts and must agree on the rest. A simulated device stands
/// for any kind. invalid_argument where no device is left.
[[nodiscard]] result<std::vector<std::optional<placement::instance_terms>>>
instances_on(const model_folder& of, const std::vector<std::string_view>& devices);

} // namespace troupe::repository
