#pragma once

#include "kernels/device/device.hpp"

#include <atomic>
#include <memory>
#include <string>

namespace troupe {

/// Host memory handed out as buffers up to a limit. Shared with its buffers, so that they may
/// outlive the device. Thread-safe.
class memory_budget : public std::enable_shared_from_this<memory_budget> {
public:
  memory_budget(std::string device, std::size_t limit)
      : device_{std::move(device)}, limit_{limit} {}

  /// A block aligned to `tensor_alignment`; resource_exhausted beyond the limit or when the system
  /// has no memory left.
  [[nodiscard]] result<std::unique_ptr<buffer>> allocate(std::size_t bytes);

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(); }

private:
  class block;

  std::string device_;
  std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

} // namespace troupe
