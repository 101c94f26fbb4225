#pragma once

#include <string_view>

namespace troupe::protocol {

/// What the server calls itself in health and metadata answers.
inline constexpr std::string_view server_name = "troupe";
inline constexpr std::string_view server_version = TROUPE_VERSION;

} // namespace troupe::protocol
