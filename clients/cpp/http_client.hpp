#pragma once

#include "clients/cpp/client.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace troupe::client {

/// A client of KServe v2 over HTTP/1.1, with tensors as binary data. Keeps connections alive; makes
/// as many as requests are in flight at once, up to a limit.
[[nodiscard]] result<std::unique_ptr<client>> connect_http(const std::string& host,
                                                           std::uint16_t port, const options& with);

} // namespace troupe::client
