#pragma once

#include "kernels/device/device.hpp"

#include <memory>

namespace troupe::cpu {

/// A stream on the processors. With `own_thread` one named thread issues what is submitted, in
/// order, and calls `done` itself; its queue is as long as its callers let it become. With
/// `inline_` the submitting thread does both. Destroying a stream finishes what was submitted
/// first.
[[nodiscard]] std::unique_ptr<stream> open_cpu_stream(stream_mode mode, int threads);

} // namespace troupe::cpu
