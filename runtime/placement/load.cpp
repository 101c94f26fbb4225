#include "runtime/placement/load.hpp"

#include <algorithm>

namespace troupe::placement {

void load::set_queued(std::int64_t rows) {
  std::lock_guard lock(mutex_);
  queued_rows_ = rows;
}

void load::restart() {
  std::lock_guard lock(mutex_);
  queued_rows_ = running_rows_ = 0;
}

void load::batch_started(std::int64_t rows, time_point now) {
  std::lock_guard lock(mutex_);
  if (running_rows_ == 0)
    running_since_ = now;
  running_rows_ += rows;
}

void load::batch_ended(std::int64_t rows) {
  std::lock_guard lock(mutex_);
  running_rows_ = std::max<std::int64_t>(0, running_rows_ - rows);
}

void load::record_run(std::int64_t rows, duration took) {
  std::lock_guard lock(mutex_);
  profile_.record(rows, took);
}

time_point load::estimated_completion(std::int64_t rows, time_point now) const {
  std::lock_guard lock(mutex_);
  return expected(queued_rows_ + rows, now);
}

time_point load::estimated_completion_after(std::int64_t ahead, std::int64_t rows,
                                            time_point now) const {
  std::lock_guard lock(mutex_);
  return expected(ahead + rows, now);
}

time_point load::expected(std::int64_t rows, time_point now) const {
  auto at = now;
  if (running_rows_ > 0) // what runs may already be over its estimate: never count time backwards
    at = std::max(now, running_since_ + profile_.estimate(running_rows_));
  return at + profile_.estimate(rows);
}

duration load::estimated_run(std::int64_t rows) const {
  std::lock_guard lock(mutex_);
  return profile_.estimate(rows);
}

latency_profile load::profile() const {
  std::lock_guard lock(mutex_);
  return profile_;
}

} // namespace troupe::placement
