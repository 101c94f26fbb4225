#pragma once

#include <cstddef>

namespace troupe::cpu {

/// Threads this process may really use: its CPU affinity, capped by the cgroup's CPU quota (rounded
/// up). At least 1.
[[nodiscard]] int available_threads();

/// Memory this process may really use, in bytes: the machine's, capped by the cgroup's limit.
[[nodiscard]] std::size_t available_memory();

/// Makes the calling thread one that runs or creates kernels, and undoes it at the end: the OpenMP
/// team has `threads` members and denormal floats count as zero. The team's other members take the
/// setting from the thread that first starts them.
class kernel_thread {
public:
  explicit kernel_thread(int threads) noexcept;
  ~kernel_thread();
  kernel_thread(const kernel_thread&) = delete;
  kernel_thread& operator=(const kernel_thread&) = delete;

private:
  int previous_threads_;
  unsigned long previous_float_mode_;
};

} // namespace troupe::cpu
