#pragma once

#include "kernels/base/clock.hpp"
#include "kernels/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace troupe::protocol {

/// Where to listen and with how many threads.
struct listener_options {
  std::string host = "127.0.0.1"; ///< an address or a name
  std::uint16_t port = 0;         ///< 0: the system picks a free one
  int threads = 1;                ///< that move bytes; requests do not occupy them
  std::size_t max_connections = 1024;
  /// Of answers that clients have not taken, all connections together. Beyond, those that leave
  /// some are not read from, and cut if they take nothing for a second.
  std::size_t max_unsent_bytes = std::size_t{1} << 29;
};

/// One port that speaks one protocol. `start`, `stop_accepting`, `drain` and the destructor are
/// called by one thread, in this order.
class listener {
public:
  virtual ~listener() = default;

  /// Binds and begins to accept. The port that was bound; unavailable if it is taken.
  [[nodiscard]] virtual result<std::uint16_t> start() = 0;
  /// Closes the port and tells connected clients to leave where the protocol has a way to.
  /// Connections go on.
  virtual void stop_accepting() = 0;
  /// Lets every connection finish what is in flight and send it, and closes idle ones. True if all
  /// are gone within `deadline`; the rest are cut, their requests cancelled.
  virtual bool drain(duration deadline) = 0;
};

} // namespace troupe::protocol
