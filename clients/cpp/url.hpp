#pragma once

#include "kernels/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::client {

enum class scheme : std::uint8_t { tcp, http, grpc };

struct url {
  scheme how = scheme::tcp;
  std::string host;
  std::uint16_t port = 0;
};

/// "SCHEME://HOST[:PORT][/]", an IPv6 address in brackets. Ports by default: tcp 8003, http 8000,
/// grpc 8001.
[[nodiscard]] result<url> parse_url(std::string_view text);

} // namespace troupe::client
