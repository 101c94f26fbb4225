#pragma once

#include "kernels/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::protocol::rest {

enum class endpoint : std::uint8_t {
  live,
  ready,
  server_metadata,
  model_metadata,
  model_ready,
  infer,
  statistics, ///< of one model, or of all if `model` is empty
  index,
  load,
  unload,
};

/// Where a request goes.
struct route {
  endpoint what = endpoint::live;
  std::string model;
  std::string version; ///< digits; empty if the target names none
};

/// The only HTTP method that an endpoint knows: "GET" or "POST".
[[nodiscard]] std::string_view method_of(endpoint what) noexcept;

/// Reads a request's target, percent-encoding and all; a query is ignored. not_found for a path
/// that is none of KServe's, invalid_argument for a version that is not a number and for bad
/// encoding.
[[nodiscard]] result<route> parse_target(std::string_view target);

} // namespace troupe::protocol::rest
