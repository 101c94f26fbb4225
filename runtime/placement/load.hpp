#pragma once

#include "runtime/placement/device_load.hpp"
#include "runtime/placement/latency_profile.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace troupe::placement {

/// What is known of one placement's work at this moment. Thread-safe: its batcher writes, the
/// router, its siblings and the device read. A `shape` is the hash of what requests must share to
/// run together.
class load {
public:
  explicit load(std::shared_ptr<device_load> on = std::make_shared<device_load>())
      : device_(std::move(on)) {}

  /// A new batcher begins: nothing is queued and nothing runs.
  void restart(time_point now);
  /// Whether its device takes batches.
  void set_up(bool up);
  /// So many rows were sent here (or, negative, came or will not come).
  void on_way(std::int64_t rows);
  /// What waits: rows, and how long they are expected to run.
  void set_queued(std::int64_t rows, duration work);
  /// A batch goes to the device: how long it is expected to take there.
  [[nodiscard]] duration batch_started(std::size_t shape, std::int64_t rows, time_point now);
  /// It came back; `expected` as it was said then.
  void batch_ended(duration expected, time_point now);
  /// What a run of `rows` rows took on the device.
  void record_run(std::size_t shape, std::int64_t rows, duration took, time_point now);

  [[nodiscard]] bool up() const;
  /// Rows in the batcher's queue.
  [[nodiscard]] std::int64_t queued_rows() const;
  /// The same with those on their way.
  [[nodiscard]] std::int64_t waiting_rows() const;
  /// Something of it is on the device.
  [[nodiscard]] bool busy() const;
  /// Nothing waits here and nothing of it is on the device.
  [[nodiscard]] bool idle() const;
  /// Whether something ran here: ever, or lately enough that it still says something.
  [[nodiscard]] bool measured() const;
  [[nodiscard]] bool measured_lately(time_point now) const;

  /// When the device is through with what it was given, by this model or another.
  [[nodiscard]] time_point free_at(time_point now) const { return device_->free_at(now); }
  /// When a request of `rows` that is sent here now would be answered: behind all that waits here
  /// or is on its way.
  [[nodiscard]] time_point estimated_completion(std::size_t shape, std::int64_t rows,
                                                time_point now) const;
  /// The earliest that one can be answered that has arrived: those on their way come after it, and
  /// what other models gave the device may give way to it.
  [[nodiscard]] time_point estimated_completion_here(std::size_t shape, std::int64_t rows,
                                                     time_point now) const;
  /// The same for one that only `ahead` of the waiting rows go before.
  [[nodiscard]] time_point estimated_completion_after(std::int64_t ahead, std::size_t shape,
                                                      std::int64_t rows, time_point now) const;
  [[nodiscard]] duration estimated_run(std::size_t shape, std::int64_t rows) const;
  /// What runs of exactly so many rows took; none if there was none.
  [[nodiscard]] std::optional<duration> measured_run(std::size_t shape, std::int64_t rows) const;
  [[nodiscard]] latency_profile profile() const; ///< of all shapes together

private:
  // Locked.
  [[nodiscard]] duration added_work(std::size_t shape, std::int64_t rows) const;
  [[nodiscard]] time_point own_batches_end(time_point now) const;

  std::shared_ptr<device_load> device_;
  mutable std::mutex mutex_;
  shape_profiles profiles_;
  bool up_ = true;
  std::int64_t on_way_rows_ = 0;
  std::int64_t queued_rows_ = 0;
  duration queued_work_{0};
  int running_ = 0;            ///< batches
  duration booked_{0};         ///< of them, with the device
  time_point running_since_{}; ///< the first of them
  time_point last_run_{};
};

/// Rows on their way to a placement, until they are there or given up. Move-only.
class heading {
public:
  heading() = default;
  heading(std::shared_ptr<load> to, std::int64_t rows) : to_(std::move(to)), rows_(rows) {
    to_->on_way(rows_);
  }
  heading(heading&& other) noexcept : to_(std::move(other.to_)), rows_(other.rows_) {}
  heading& operator=(heading&& other) noexcept {
    std::swap(to_, other.to_);
    std::swap(rows_, other.rows_);
    return *this;
  }
  ~heading() {
    if (to_)
      to_->on_way(-rows_);
  }

private:
  std::shared_ptr<load> to_;
  std::int64_t rows_ = 0;
};

} // namespace troupe::placement
