#include "apps/common/kernel_waiting.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

namespace troupe::apps {

namespace {

// Some tens of microseconds: longer than the gaps between the parallel regions of a run.
constexpr const char* spin_count = "2000";

} // namespace

void limit_kernel_spinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY"))
    return;
  std::array<char, 4096> program{};
  const auto length = ::readlink("/proc/self/exe", program.data(), program.size() - 1);
  if (length <= 0 || ::setenv("GOMP_SPINCOUNT", spin_count, 0) != 0)
    return;
  ::execv(program.data(), argv); // returns only if it failed: then go on as we are
}

} // namespace troupe::apps
