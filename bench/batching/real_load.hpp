#pragma once

// Requests for a subject, in real time.

#include "bench/batching/arrivals.hpp"
#include "bench/batching/point.hpp"
#include "bench/batching/subject.hpp"

#include <span>
#include <vector>

namespace troupe::bench {

/// What became of one request.
struct answer {
  duration due{0};  ///< after the beginning
  duration took{0}; ///< from when it was due, not from when it left
  bool good = false;
  errc why{}; ///< where it is not
};

/// A subject's turn.
struct turn {
  duration length{0};
  std::vector<answer> answers{};
  device_work_done work{};  ///< by the end of the arrivals
  std::uint64_t late = 0;   ///< requests that left more than a millisecond after they were due
  duration load_cpu{0};     ///< what asking cost the processor, answers aside
  duration counted_from{0}; ///< earlier requests happened but are not counted

  [[nodiscard]] duration span() const noexcept { return length - counted_from; }
};

/// Requests at the times that `of` says; returns when all are answered.
[[nodiscard]] turn play(subject& on, const traffic& of);

/// Answers a second where so many requests are always under way; the first tenth of the time is not
/// counted.
[[nodiscard]] double closed_loop(subject& on, int window, duration length);

/// What became of the requests of all turns together, as the simulation counts them; "in time":
/// within the objective, or at all where it is 0.
[[nodiscard]] actors::simulation::model_outcome judged(std::span<const turn> turns,
                                                       duration objective);

} // namespace troupe::bench
