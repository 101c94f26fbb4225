#pragma once

#include "runtime/exec/model.hpp"
#include "runtime/placement/executable.hpp"

#include <memory>

namespace troupe::placement {

/// The engine's model as the serving side runs it.
[[nodiscard]] std::shared_ptr<executable> make_executable(std::shared_ptr<exec::model> model);

} // namespace troupe::placement
