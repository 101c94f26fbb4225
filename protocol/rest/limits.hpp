#pragma once

#include "kernels/base/clock.hpp"

#include <cstddef>
#include <cstdint>

namespace troupe::protocol::rest {

/// What one HTTP connection may ask for.
struct limits {
  std::uint32_t header_bytes = 16'384;
  std::size_t json_bytes = std::size_t{32} << 20;    ///< parsing takes about ten times as much
  std::uint64_t body_bytes = std::uint64_t{1} << 28; ///< JSON and binary tensors together
  std::size_t depth = 32;                            ///< of JSON
  std::size_t tensors = 1024;                        ///< inputs, and outputs, of a request
  duration request_time = std::chrono::seconds{10};  ///< from first to last byte of a request,
  duration request_time_per_mib = std::chrono::seconds{1}; ///< and so much more per MiB that came
  duration idle_time = std::chrono::seconds{120};          ///< between requests; 0: for ever
  duration write_time = std::chrono::seconds{60};          ///< without the client taking a byte
  duration crowded_write_time =
      std::chrono::seconds{1}; ///< instead, while clients together leave too much
  duration linger_time = std::chrono::seconds{1}; ///< for the peer to close after us
};

} // namespace troupe::protocol::rest
