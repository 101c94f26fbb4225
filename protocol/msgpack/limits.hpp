#pragma once

#include "kernels/base/clock.hpp"

#include <cstddef>
#include <cstdint>

namespace troupe::protocol::rpc {

/// What one connection may ask for; docs/msgpack-protocol.md, section 4.
struct limits {
  std::size_t head_bytes = std::size_t{256} << 10;       ///< a frame without its payloads
  std::uint64_t payload_bytes = std::uint64_t{1} << 28;  ///< all payloads of a frame together
  std::uint32_t depth = 16;                              ///< nesting of arrays and maps, at most 32
  std::uint32_t values = 65'536;                         ///< in a head
  std::uint32_t tensors = 1024;                          ///< payloads of a frame
  std::size_t in_flight = 256;                           ///< requests; reading stops at this many
  std::size_t output_bytes = std::size_t{64} << 20;      ///< unsent; reading stops beyond
  duration frame_time = std::chrono::seconds{10};        ///< from first to last byte of a frame,
  duration frame_time_per_mib = std::chrono::seconds{1}; ///< and so much more per MiB that came
  duration write_time = std::chrono::seconds{60};        ///< without the client taking a byte
  duration crowded_write_time =
      std::chrono::seconds{1}; ///< instead, while clients together leave too much
  duration idle_time = std::chrono::seconds{600}; ///< with nothing under way; 0: for ever
  duration linger_time = std::chrono::seconds{1}; ///< for the peer to close after us
};

} // namespace troupe::protocol::rpc
