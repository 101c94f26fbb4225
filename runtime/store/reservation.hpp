#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace troupe::store {

/// Bytes of a device's budget that are taken as long as this lives: for weights. The destructor
/// calls `released`, on whatever thread the last holder lets go. Neither copied nor moved: share
/// it.
class reservation {
public:
  reservation(std::size_t bytes, std::function<void()> released)
      : bytes_(bytes), released_(std::move(released)) {}
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;
  ~reservation() {
    if (released_)
      released_();
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
  std::size_t bytes_;
  std::function<void()> released_;
};

} // namespace troupe::store
