#pragma once

#include <algorithm>
#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace troupe::cpu {

/// Elements (of a few operations each) below which a parallel region costs more than it saves:
/// waking a team takes some microseconds.
inline constexpr std::int64_t parallel_threshold = 32 * 1024;

/// Calls `part(begin, end)` for disjoint ranges that cover [0, count): on the whole team when
/// `count * cost` reaches `parallel_threshold`, else on the calling thread alone. The team is never
/// resized, because libgomp ends and restarts threads when it is.
template <class Part>
void parallel_for([[maybe_unused]] int threads, std::int64_t count,
                  [[maybe_unused]] std::int64_t cost, const Part& part) {
#ifdef _OPENMP
  if (threads > 1 && count > 1 && count * std::max<std::int64_t>(cost, 1) >= parallel_threshold
      && omp_in_parallel() == 0) {
#pragma omp parallel num_threads(threads)
    {
      const std::int64_t members = omp_get_num_threads();
      const std::int64_t member = omp_get_thread_num();
      const std::int64_t begin = count * member / members;
      const std::int64_t end = count * (member + 1) / members;
      if (begin < end)
        part(begin, end);
    }
    return;
  }
#endif
  if (count > 0)
    part(std::int64_t{0}, count);
}

} // namespace troupe::cpu
