#include "actors/admission.hpp"

namespace troupe::actors {

namespace {

// Takes `amount` out of what `limit` leaves, or nothing.
bool take(std::atomic<std::size_t>& used, std::size_t amount, std::size_t limit) noexcept {
  auto seen = used.load(std::memory_order_relaxed);
  do {
    if (amount > limit || seen > limit - amount)
      return false;
  } while (!used.compare_exchange_weak(seen, seen + amount, std::memory_order_relaxed));
  return true;
}

tl::unexpected<error> full(std::string text) {
  return tl::unexpected<error>{error{errc::resource_exhausted, std::move(text), 50}};
}

} // namespace

result<protocol::admission> admission_budget::admit(std::size_t bytes) {
  if (closed_)
    return tl::unexpected<error>{error{errc::unavailable, "the server is shutting down", 1000}};
  if (bytes > max_bytes_)
    return fail(errc::invalid_argument,
                "request of {} bytes: more than the {} bytes the server holds at once", bytes,
                max_bytes_);
  if (!take(requests_, 1, max_requests_))
    return full(fmt::format("the server is full: {} requests are waiting for their answers",
                            max_requests_));
  if (!take(bytes_, bytes, max_bytes_)) {
    requests_ -= 1;
    return full(fmt::format("the server is full: requests of {} bytes together are waiting for "
                            "their answers",
                            max_bytes_));
  }
  return protocol::admission{[self = shared_from_this(), bytes] {
    self->bytes_ -= bytes;
    self->requests_ -= 1;
  }};
}

} // namespace troupe::actors
