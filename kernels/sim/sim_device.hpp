#pragma once

#include "kernels/device/device.hpp"
#include "kernels/device/device_address.hpp"
#include "kernels/sim/apart_memory.hpp"
#include "kernels/sim/timeline.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe::sim {

struct sim_options {
  std::string name = "sim";
  duration launch_cost{0}; ///< of each submit that launches anything
  duration row_cost{0}; ///< of each row: axis 0 of a kernel's first output, the largest of a submit
  std::size_t memory_bytes = std::size_t{1} << 30;
  int tickets = 2;
  std::uint64_t fail_every = 0; ///< every n-th submit fails; 0 = none
  /// Without it the device's memory is apart from the host's: only the host memory that the device
  /// hands out is copied from and to, and what goes to the host is there when the work is done.
  bool host_visible = true;
  std::size_t host_memory_bytes = std::size_t{1} << 30; ///< to be handed out
  /// Asked for every submit, counted from 1: an error makes it fail. Called in stream order.
  std::function<std::optional<error>(std::uint64_t submit)> script = nullptr;
  std::shared_ptr<timeline> time = nullptr; ///< null = real time, with a thread of the device's own
};

/// From "sim:launch_us=10000,row_us=100,memory=1073741824,tickets=2,fail_every=100,host_visible=0,
/// host_memory=1073741824"; every key may be left out.
[[nodiscard]] result<sim_options> parse_sim_options(const device_address& address);

/// A device that computes with the CPU's reference kernels, so that answers are right, and takes
/// the time its options say: submits of all its streams run one after another, each for launch_cost
/// + rows * row_cost. `issue` and `done` are called by the timeline: on a virtual one, by whoever
/// turns it. A failed submit still takes its time. An `inline_` stream sleeps in real time and does
/// not wait at all in virtual time.
[[nodiscard]] std::shared_ptr<device> make_sim_device(sim_options options = {});

/// What is being launched on a simulated device's stream takes `time` beside what its options say.
/// Only inside `issue`. failed_precondition on another device's stream.
[[nodiscard]] result<void> spend(stream& on, duration time);

/// What the streams of a simulated device that is not `host_visible` copied so far; nothing of any
/// other device.
[[nodiscard]] traffic traffic_of(const device& on);

} // namespace troupe::sim
