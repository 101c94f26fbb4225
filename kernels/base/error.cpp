#include "kernels/base/error.hpp"

namespace troupe {

std::string_view to_string(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument: return "INVALID_ARGUMENT";
    case errc::failed_precondition: return "FAILED_PRECONDITION";
    case errc::unauthenticated: return "UNAUTHENTICATED";
    case errc::permission_denied: return "PERMISSION_DENIED";
    case errc::not_found: return "NOT_FOUND";
    case errc::already_exists: return "ALREADY_EXISTS";
    case errc::resource_exhausted: return "RESOURCE_EXHAUSTED";
    case errc::cancelled: return "CANCELLED";
    case errc::internal: return "INTERNAL";
    case errc::unimplemented: return "UNIMPLEMENTED";
    case errc::unavailable: return "UNAVAILABLE";
    case errc::deadline_exceeded: return "DEADLINE_EXCEEDED";
  }
  return "INTERNAL";
}

std::string to_string(const error& failure) {
  std::string text{to_string(failure.code)};
  text += ": ";
  text += failure.text;
  return text;
}

} // namespace troupe
