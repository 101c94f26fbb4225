#pragma once

#include "kernels/base/result.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/memory_budget.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::sim {

enum class side : std::uint8_t { device, host };

/// What was copied, by direction.
struct traffic {
  struct count {
    std::uint64_t copies = 0;
    std::uint64_t bytes = 0;
  };
  count to_device{};
  count to_host{};
  count within{}; ///< the device's memory
};

/// The memory of a device that the host cannot see, the host memory that it copies from and to, and
/// the rule that it copies nothing else. Shared with its blocks, which may outlive the device.
/// Thread-safe.
class apart_memory : public std::enable_shared_from_this<apart_memory> {
public:
  apart_memory(const std::string& device, std::size_t device_limit, std::size_t host_limit);

  /// resource_exhausted beyond the side's limit or when the system has no memory left.
  [[nodiscard]] result<std::unique_ptr<buffer>> allocate(side of, std::size_t bytes);

  /// Counts a copy; the side it goes to. `internal` where a range is not within one block of either
  /// side, and where nothing of it concerns the device.
  [[nodiscard]] result<side> count_copy(const std::byte* to, const std::byte* from,
                                        std::size_t bytes);

  /// Whether the range is within one block of that side.
  [[nodiscard]] bool holds(side of, const std::byte* at, std::size_t bytes) const;

  [[nodiscard]] traffic copied() const;
  /// Bytes of all blocks of that side.
  [[nodiscard]] std::size_t held(side of) const noexcept;

private:
  class block;
  struct range {
    std::size_t bytes;
    side of;
  };

  [[nodiscard]] std::optional<side> side_of(const std::byte* at, std::size_t bytes) const;

  std::string device_;
  std::shared_ptr<memory_budget> memories_[2]; ///< by side
  mutable std::mutex mutex_;
  std::map<const std::byte*, range> blocks_; ///< by where they begin
  traffic copied_;
};

} // namespace troupe::sim
