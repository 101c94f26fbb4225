#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// What kind of failure an error is. The names, and what each maps to on the wires, are listed in
/// docs/architecture.md; they follow gRPC's status codes.
enum class errc : std::uint8_t {
  invalid_argument,
  failed_precondition,
  unauthenticated,
  permission_denied,
  not_found,
  already_exists,
  resource_exhausted,
  cancelled,
  internal,
  unimplemented,
  unavailable,
  deadline_exceeded,
};

/// Upper-case name as gRPC and the msgpack protocol spell it, such as "INVALID_ARGUMENT".
std::string_view to_string(errc code) noexcept;

/// A failure as a value. The text names the thing, what was expected and what came.
struct error {
  errc code = errc::internal;
  std::string text;
  std::uint32_t retry_after_ms = 0; ///< hint for resource_exhausted and unavailable; 0 = none
};

/// "CODE: text", for logs and terminals.
std::string to_string(const error& failure);

} // namespace troupe
