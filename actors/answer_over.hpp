#pragma once

#include "actors/job.hpp"

#include <chrono>

namespace troupe::actors {

/// Whether a job is not to be worked on any more.
inline bool is_over(const job::impl& asked, time_point now) noexcept {
  return asked.over() || now >= asked.deadline;
}

/// Answers such a job with the reason.
inline void answer_over(job::impl& asked, time_point now) {
  if (now >= asked.deadline)
    asked.fail_with(errc::deadline_exceeded, "the deadline of the request is over");
  else
    asked.fail_with(errc::cancelled, "the request was cancelled");
}

/// For texts.
inline double in_ms(duration of) noexcept {
  return std::chrono::duration<double, std::milli>(of).count();
}

} // namespace troupe::actors
