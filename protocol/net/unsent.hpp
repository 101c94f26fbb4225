#pragma once

// What the clients of a listener were answered and have not taken yet.

#include "kernels/base/clock.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace troupe::protocol::net {

/// Of all connections together. Thread-safe.
class unsent_budget {
public:
  explicit unsent_budget(std::size_t most_bytes) noexcept : most_(most_bytes) {}

  [[nodiscard]] bool exceeded() const noexcept { return held_.load() > most_; }

private:
  friend class unsent_share;

  std::atomic<std::size_t> held_{0};
  std::size_t most_;
};

/// One connection's part in it, given back by the destructor. Used on the connection's strand
/// alone.
class unsent_share {
public:
  explicit unsent_share(std::shared_ptr<unsent_budget> of) noexcept : of_(std::move(of)) {}
  unsent_share(const unsent_share&) = delete;
  unsent_share& operator=(const unsent_share&) = delete;
  ~unsent_share() { hold(0); }

  void hold(std::size_t bytes) noexcept {
    of_->held_ += bytes - held_; // modulo 2^64: may become less
    held_ = bytes;
  }

  /// Whether clients leave too much, and this one is among them.
  [[nodiscard]] bool crowded() const noexcept { return held_ > 0 && of_->exceeded(); }
  /// How long this client may take nothing.
  [[nodiscard]] duration patience(duration usual, duration where_crowded) const noexcept {
    return crowded() ? where_crowded : usual;
  }

private:
  std::shared_ptr<unsent_budget> of_;
  std::size_t held_ = 0;
};

} // namespace troupe::protocol::net
