#pragma once

#include "runtime/placement/version_rules.hpp"
#include "runtime/repository/layout.hpp"

namespace troupe::repository {

/// `troupe.labels` ("stable=3, canary=4") and `troupe.split` ("stable=95, canary=5", of versions or
/// labels) of a model's configuration. invalid_argument where one names a version that is not among
/// those the version policy chooses, a label looks like a number, or nobody has a share.
[[nodiscard]] result<placement::version_rules> version_rules_of(const model_folder& of);

} // namespace troupe::repository
