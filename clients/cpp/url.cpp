#include "clients/cpp/url.hpp"

#include <charconv>

namespace troupe::client {

result<url> parse_url(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    return fail(errc::invalid_argument,
                "URL \"{}\": {}; expected tcp://HOST[:PORT] or http://HOST[:PORT]", text, what);
  };
  struct known {
    std::string_view prefix;
    scheme how;
    std::uint16_t port;
  };
  constexpr known schemes[] = {{"tcp://", scheme::tcp, 8003},
                               {"http://", scheme::http, 8000},
                               {"grpc://", scheme::grpc, 8001}};
  auto rest = text;
  url read;
  for (const auto& [prefix, how, port] : schemes) {
    if (!text.starts_with(prefix))
      continue;
    rest.remove_prefix(prefix.size());
    read.how = how;
    read.port = port;
  }
  if (read.port == 0)
    return wrong("unknown scheme");
  if (rest.ends_with('/'))
    rest.remove_suffix(1);
  std::size_t host_end = rest.find(':');
  if (rest.starts_with('[')) {
    const auto bracket = rest.find(']');
    if (bracket == std::string_view::npos)
      return wrong("an address without its closing bracket");
    read.host = rest.substr(1, bracket - 1);
    host_end = bracket + 1;
  } else {
    host_end = std::min(host_end, rest.size());
    read.host = rest.substr(0, host_end);
  }
  if (read.host.empty() || read.host.find('/') != std::string::npos)
    return wrong("no host");
  const auto port = rest.substr(host_end);
  if (port.empty())
    return read;
  const char* const end = port.data() + port.size();
  const auto [stop, ec] = std::from_chars(port.data() + 1, end, read.port);
  if (port.front() != ':' || ec != std::errc{} || stop != end || read.port == 0)
    return wrong("a port is a number from 1 to 65535");
  return read;
}

} // namespace troupe::client
