#pragma once

#include "kernels/tensor/dtype.hpp"
#include "runtime/repository/model_config.pb.h"

#include <optional>

namespace troupe::repository {

/// What a configuration's data type is here; none for TYPE_INVALID, which stands for not said.
[[nodiscard]] std::optional<dtype> type_of(schema::DataType type);

} // namespace troupe::repository
