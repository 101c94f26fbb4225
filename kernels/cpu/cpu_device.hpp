#pragma once

#include "kernels/device/device.hpp"
#include "kernels/device/device_address.hpp"

#include <cstddef>
#include <memory>

namespace troupe::cpu {

struct cpu_options {
  int threads = 0;              ///< of the kernel thread team; 0 = what affinity and cgroup allow
  std::size_t memory_bytes = 0; ///< budget of `allocate`; 0 = what machine and cgroup have
};

/// From "cpu", "cpu:threads=4" or "cpu:threads=4,memory=1073741824" (bytes).
[[nodiscard]] result<cpu_options> parse_cpu_options(const device_address& address);

/// The processors of this machine as one device. Kernels run on the thread of the stream they are
/// launched on, with an OpenMP team of `threads`; denormal floats count as zero there.
/// invalid_argument when TROUPE_MAX_ISA names no instruction set.
[[nodiscard]] result<std::shared_ptr<device>> make_cpu_device(const cpu_options& options = {});

} // namespace troupe::cpu
