#include "kernels/cpu/threads.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif
#include <sched.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace troupe::cpu {

namespace {

// The control group's directory, and after it its parents up to the mount point: a limit may be set
// on any of them. Only the unified hierarchy (version 2) is asked.
std::string control_group() {
  std::ifstream groups{"/proc/self/cgroup"};
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::"))
      return "/sys/fs/cgroup" + line.substr(3);
  return "/sys/fs/cgroup";
}

template <class Read>
auto smallest_limit(const char* file, Read read) {
  decltype(read(std::declval<std::istream&>())) smallest;
  std::string folder = control_group();
  while (folder.size() >= std::string_view{"/sys/fs/cgroup"}.size()) {
    if (std::ifstream limit{folder + "/" + file}) {
      const auto found = read(limit);
      if (found && (!smallest || *found < *smallest))
        smallest = found;
    }
    folder.resize(folder.find_last_of('/'));
  }
  return smallest;
}

std::optional<int> read_cpu_quota(std::istream& file) {
  std::string quota;
  long period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0)
    return std::nullopt;
  const long allowed = std::strtol(quota.c_str(), nullptr, 10);
  return static_cast<int>(std::max(1L, (allowed + period - 1) / period));
}

std::optional<std::size_t> read_memory_limit(std::istream& file) {
  std::size_t bytes = 0;
  if (!(file >> bytes))
    return std::nullopt;
  return bytes;
}

#if defined(__x86_64__)
constexpr unsigned flush_bits = 0x8040; // flush to zero, denormals are zero
unsigned long float_mode() noexcept {
  return _mm_getcsr();
}
void set_float_mode(unsigned long mode) noexcept {
  _mm_setcsr(static_cast<unsigned>(mode));
}
#elif defined(__aarch64__)
constexpr unsigned long flush_bits = 1UL << 24; // FPCR.FZ
unsigned long float_mode() noexcept {
  unsigned long mode = 0;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
void set_float_mode(unsigned long mode) noexcept {
  asm volatile("msr fpcr, %0" : : "r"(mode));
}
#else
constexpr unsigned long flush_bits = 0;
unsigned long float_mode() noexcept {
  return 0;
}
void set_float_mode(unsigned long) noexcept {}
#endif

} // namespace

int available_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  int threads = 1;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    threads = CPU_COUNT(&allowed);
  else
    threads = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  if (const auto quota = smallest_limit("cpu.max", read_cpu_quota))
    threads = std::min(threads, *quota);
  return std::max(threads, 1);
}

std::size_t available_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  auto bytes = pages > 0 && page > 0
                   ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                   : std::numeric_limits<std::size_t>::max();
  if (const auto limit = smallest_limit("memory.max", read_memory_limit))
    bytes = std::min(bytes, *limit);
  return bytes;
}

kernel_thread::kernel_thread(int threads) noexcept : previous_float_mode_{float_mode()} {
  set_float_mode(previous_float_mode_ | flush_bits);
#ifdef _OPENMP
  previous_threads_ = omp_get_max_threads();
  omp_set_num_threads(threads);
#else
  previous_threads_ = threads;
#endif
}

kernel_thread::~kernel_thread() {
#ifdef _OPENMP
  omp_set_num_threads(previous_threads_);
#endif
  set_float_mode(previous_float_mode_);
}

} // namespace troupe::cpu
