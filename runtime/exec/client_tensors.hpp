#pragma once

#include "runtime/exec/signature.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace troupe {

/// The tensor of that name among a model's inputs or outputs; null where there is none, and for one
/// that is the server's own, which clients neither give nor take.
[[nodiscard]] inline const tensor_signature*
find_client_tensor(const std::vector<tensor_signature>& among, std::string_view name) {
  const auto at = std::find_if(among.begin(), among.end(), [&](const tensor_signature& one) {
    return one.name == name && !one.internal;
  });
  return at == among.end() ? nullptr : &*at;
}

} // namespace troupe
