#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace troupe::exec {

class plan_cache;

/// What the plans of several models may hold together, in bytes. When they hold more, the least
/// recently used plan of all caches leaves, and so on, but for the last one. Thread-safe; outlives
/// the caches that joined.
class plan_budget {
public:
  explicit plan_budget(std::size_t limit) : limit_{limit} {}
  plan_budget(const plan_budget&) = delete;
  plan_budget& operator=(const plan_budget&) = delete;

  /// For a machine, or a part of one, with so much memory: a 32nd of it, at least 64 MiB.
  [[nodiscard]] static std::size_t default_for(std::size_t memory_bytes) noexcept;

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

private:
  friend class plan_cache;

  void join(plan_cache& member);
  void leave(plan_cache& member);
  void added(std::size_t bytes) noexcept { used_ += bytes; }
  void removed(std::size_t bytes) noexcept { used_ -= bytes; }
  /// Moments of use, in one order for all caches.
  [[nodiscard]] std::uint64_t tick() noexcept { return ++ticks_; }
  /// No cache's lock may be held.
  void trim();

  const std::size_t limit_;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::uint64_t> ticks_{0};
  std::mutex mutex_; // taken before a cache's
  std::vector<plan_cache*> members_;
};

} // namespace troupe::exec
