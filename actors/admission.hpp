#pragma once

#include "kernels/base/result.hpp"
#include "protocol/service.hpp"

#include <atomic>
#include <cstddef>
#include <memory>

namespace troupe::actors {

/// The server's budget of requests accepted and not yet answered, by count and by payload bytes.
/// Thread-safe, lock-free: this is where overload is refused, before a payload is read.
class admission_budget : public std::enable_shared_from_this<admission_budget> {
public:
  admission_budget(std::size_t max_requests, std::size_t max_bytes)
      : max_requests_(max_requests), max_bytes_(max_bytes) {}

  /// Units that give themselves back; resource_exhausted when full, unavailable once closed.
  [[nodiscard]] result<protocol::admission> admit(std::size_t bytes);

  void close() noexcept { closed_ = true; }
  [[nodiscard]] bool closed() const noexcept { return closed_; }

  [[nodiscard]] std::size_t requests() const noexcept { return requests_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
  const std::size_t max_requests_;
  const std::size_t max_bytes_;
  std::atomic<std::size_t> requests_{0};
  std::atomic<std::size_t> bytes_{0};
  std::atomic<bool> closed_{false};
};

} // namespace troupe::actors
