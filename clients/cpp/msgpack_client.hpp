#pragma once

#include "clients/cpp/client.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace troupe::client {

/// A client of docs/msgpack-protocol.md over one connection.
[[nodiscard]] result<std::unique_ptr<client>>
connect_msgpack(const std::string& host, std::uint16_t port, const options& with);

} // namespace troupe::client
