#include "runtime/telemetry/probe.hpp"

namespace troupe::telemetry {

void probe::answered(std::int64_t rows, const request_times& spent) {
  std::lock_guard lock(mutex_);
  now_.rows_answered += static_cast<std::uint64_t>(rows);
  now_.success.add(spent.whole);
  now_.queue.add(spent.queue);
  now_.input.add(spent.input);
  now_.infer.add(spent.infer);
  now_.output.add(spent.output);
  now_.latency_us.record(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(spent.whole).count()));
}

void probe::failed(duration whole) {
  std::lock_guard lock(mutex_);
  now_.fail.add(whole);
}

void probe::rejected() {
  std::lock_guard lock(mutex_);
  ++now_.rejected;
}

void probe::retried(std::uint64_t requests) {
  std::lock_guard lock(mutex_);
  now_.retried += requests;
}

void probe::batch_ran(std::int64_t rows, duration took) {
  std::lock_guard lock(mutex_);
  ++now_.batches;
  now_.by_rows[rows].add(took);
}

void probe::queue_depth(std::int64_t rows) {
  std::lock_guard lock(mutex_);
  now_.queued_rows = rows;
}

probe::numbers probe::read() const {
  std::lock_guard lock(mutex_);
  return now_;
}

} // namespace troupe::telemetry
