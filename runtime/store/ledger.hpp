#pragma once

// The books of one memory of a device: which blocks exist, which are free, who waits. Activation
// blocks and hot weights share one budget. Not thread-safe: one memory actor at a time works on it.
// What is lent and reserved is watched, not only counted: whoever holds it may end without a word.

#include "kernels/base/clock.hpp"
#include "kernels/device/device.hpp"
#include "runtime/store/memory_kind.hpp"
#include "runtime/store/reservation.hpp"
#include "runtime/store/size_class.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace troupe::store {

class ledger {
public:
  struct limits {
    std::size_t budget_bytes = 0;
    duration idle_expiry = std::chrono::seconds{10}; ///< a free block goes back to the device then
    std::size_t max_waiting = 64;
  };

  struct grant {
    std::uint64_t waiter = 0;
    std::shared_ptr<buffer> block;
  };

  /// `on` outlives the ledger.
  ledger(device& on, limits with, memory_kind of = memory_kind::device)
      : on_(&on), limits_(with), of_(of) {}

  [[nodiscard]] memory_kind of() const noexcept { return of_; }

  /// A block of at least `bytes`: a free one of the size class, or a new one within the budget.
  /// Null when it has to wait: then the waiter is queued and served by a later `give_back` or
  /// `audit`. resource_exhausted if it could never be granted or too many wait already.
  [[nodiscard]] result<std::shared_ptr<buffer>> lease(std::uint64_t waiter, std::size_t bytes,
                                                      time_point now);

  /// A block that may be kept for long. Null if there is none now: nobody is queued.
  /// resource_exhausted if such blocks would leave too little for those that come and go: the
  /// largest of these so far, and an eighth of what is not weights.
  [[nodiscard]] result<std::shared_ptr<buffer>> lease_for_long(std::size_t bytes);

  /// Takes a leased block back; the grants that became possible, in the order of waiting.
  [[nodiscard]] std::vector<grant> give_back(std::shared_ptr<buffer> block, time_point now);
  /// Strikes out blocks and reservations that are gone; the grants that became possible.
  [[nodiscard]] std::vector<grant> audit();
  /// The waiter no longer wants a block.
  void forget(std::uint64_t waiter);
  /// Nobody waits any longer: whoever still wants a block asks again.
  void forget_waiters() noexcept { waiting_.clear(); }

  /// Books bytes for hot weights as long as the reservation lives, whose end calls `released`; free
  /// blocks make room. resource_exhausted if they do not fit, with a time after which to ask again
  /// where only blocks that are lent are in the way.
  [[nodiscard]] result<std::shared_ptr<reservation>> reserve(std::size_t bytes,
                                                             std::function<void()> released = {});

  /// Frees blocks idle since before `now - idle_expiry`; when to look again, if any are left.
  std::optional<time_point> expire(time_point now);

  [[nodiscard]] duration idle_expiry() const noexcept { return limits_.idle_expiry; }
  [[nodiscard]] std::size_t leased_bytes() const noexcept { return leased_; }
  [[nodiscard]] std::size_t free_bytes() const noexcept { return free_; }
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return reserved_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

private:
  struct idle_block {
    std::shared_ptr<buffer> block;
    time_point since;
  };
  struct request {
    std::uint64_t waiter;
    std::size_t bytes;
  };

  struct lent_block {
    std::weak_ptr<buffer> block;
    std::size_t bytes;
    bool for_long = false;
  };
  struct booking {
    std::weak_ptr<reservation> held;
    std::size_t bytes;
  };

  result<std::shared_ptr<buffer>> try_lease(std::size_t bytes);
  std::shared_ptr<buffer> lend(std::shared_ptr<buffer> block);
  void strike_out_lost();
  std::vector<grant> serve();
  bool make_room(std::size_t bytes);

  device* on_;
  limits limits_;
  memory_kind of_;
  std::multimap<std::size_t, idle_block> idle_; // by size
  std::deque<request> waiting_;
  std::unordered_map<const buffer*, lent_block> lent_;
  std::vector<booking> booked_;
  std::size_t leased_ = 0;
  std::size_t free_ = 0;
  std::size_t reserved_ = 0;
  std::size_t for_long_ = 0; ///< of what is leased
  std::size_t largest_ = 0;  ///< block that was leased and not for long
};

} // namespace troupe::store
