#include "runtime/placement/load.hpp"

#include <algorithm>
#include <utility>

namespace troupe::placement {

namespace {

// What ran longer ago says little: the device may be free of what slowed it down then.
constexpr std::chrono::seconds lately{10};

} // namespace

void load::restart(time_point now) {
  std::lock_guard lock(mutex_);
  queued_rows_ = 0;
  queued_work_ = duration{0};
  if (std::exchange(running_, 0) > 0)
    device_->ended(std::exchange(booked_, duration{0}), now);
}

void load::set_up(bool up) {
  std::lock_guard lock(mutex_);
  up_ = up;
}

void load::on_way(std::int64_t rows) {
  std::lock_guard lock(mutex_);
  on_way_rows_ += rows;
}

void load::set_queued(std::int64_t rows, duration work) {
  std::lock_guard lock(mutex_);
  queued_rows_ = rows;
  queued_work_ = work;
}

duration load::batch_started(std::size_t shape, std::int64_t rows, time_point now) {
  std::lock_guard lock(mutex_);
  const auto expected = profiles_.estimate(shape, rows);
  if (running_++ == 0)
    running_since_ = now;
  booked_ += expected;
  device_->started(expected, now);
  return expected;
}

void load::batch_ended(duration expected, time_point now) {
  std::lock_guard lock(mutex_);
  if (running_ == 0)
    return; // of before a restart
  --running_;
  booked_ -= expected;
  running_since_ = now;
  device_->ended(expected, now);
}

void load::record_run(std::size_t shape, std::int64_t rows, duration took, time_point now) {
  std::lock_guard lock(mutex_);
  profiles_.record(shape, rows, took);
  last_run_ = now;
}

bool load::up() const {
  std::lock_guard lock(mutex_);
  return up_;
}

std::int64_t load::queued_rows() const {
  std::lock_guard lock(mutex_);
  return queued_rows_;
}

std::int64_t load::waiting_rows() const {
  std::lock_guard lock(mutex_);
  return on_way_rows_ + queued_rows_;
}

bool load::busy() const {
  std::lock_guard lock(mutex_);
  return running_ > 0;
}

bool load::idle() const {
  std::lock_guard lock(mutex_);
  return up_ && running_ == 0 && on_way_rows_ + queued_rows_ == 0;
}

bool load::measured() const {
  std::lock_guard lock(mutex_);
  return !profiles_.overall().empty();
}

bool load::measured_lately(time_point now) const {
  std::lock_guard lock(mutex_);
  return !profiles_.overall().empty() && now - last_run_ < lately;
}

// New rows join those that wait: what they cost is what they add.
duration load::added_work(std::size_t shape, std::int64_t rows) const {
  const auto with = profiles_.estimate(shape, queued_rows_ + rows);
  const auto without = queued_rows_ > 0 ? profiles_.estimate(shape, queued_rows_) : duration{0};
  return queued_work_ + std::max(duration{0}, with - without);
}

time_point load::own_batches_end(time_point now) const {
  return running_ > 0 ? std::max(now, running_since_ + booked_) : now;
}

time_point load::estimated_completion(std::size_t shape, std::int64_t rows, time_point now) const {
  const auto from = device_->free_at(now);
  std::lock_guard lock(mutex_);
  return from + added_work(shape, on_way_rows_ + rows);
}

time_point load::estimated_completion_here(std::size_t shape, std::int64_t rows,
                                           time_point now) const {
  std::lock_guard lock(mutex_);
  return own_batches_end(now) + added_work(shape, rows);
}

time_point load::estimated_completion_after(std::int64_t ahead, std::size_t shape,
                                            std::int64_t rows, time_point now) const {
  std::lock_guard lock(mutex_);
  return own_batches_end(now) + profiles_.estimate(shape, ahead + rows);
}

duration load::estimated_run(std::size_t shape, std::int64_t rows) const {
  std::lock_guard lock(mutex_);
  return profiles_.estimate(shape, rows);
}

std::optional<duration> load::measured_run(std::size_t shape, std::int64_t rows) const {
  std::lock_guard lock(mutex_);
  return profiles_.measured(shape, rows);
}

latency_profile load::profile() const {
  std::lock_guard lock(mutex_);
  return profiles_.overall();
}

} // namespace troupe::placement
