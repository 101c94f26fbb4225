#pragma once

// When a queue of requests becomes a batch. Plain functions over plain data and a time that is
// passed in; sizes are rows of axis 0.

#include "kernels/base/clock.hpp"
#include "kernels/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace troupe::batching {

struct policy {
  std::int64_t min_rows = 1;      ///< worth leaving for while the device is idle
  duration max_wait{0};           ///< the oldest request leaves an idle device's queue after this
  std::int64_t max_rows = 256;    ///< rows of one batch; a larger request travels alone
  bool work_conserving = true;    ///< an idle device takes whatever waits, at once
  bool preserve_ordering = false; ///< batches are contiguous in the order of arrival
  duration aging = std::chrono::seconds{1}; ///< who waits longer goes first, whatever its priority
  bool adapts = false;                      ///< sizes are learned, to keep to `objective`
  duration objective{0};                    ///< from arrival to answer; 0: none
};

/// "auto": never wait while the device is idle, and no batch so large that answers miss the
/// objective. "latency": the same without an objective. "throughput": 32 rows or 100 ms, at most
/// 256 rows. invalid_argument names the presets.
[[nodiscard]] result<policy> preset(std::string_view name);

/// What the rule may look at. `oldest` is meaningful only while `rows > 0`.
struct queue_view {
  std::int64_t rows = 0;
  time_point oldest{};
};

/// What a batcher knows of its device.
struct device_view {
  int in_flight = 0;             ///< batches handed over and not finished
  int tickets = 1;               ///< how many may be
  bool running_is_short = false; ///< what runs takes no longer than waking the device up
};

/// Whether to close a batch at `now`. An idle device follows the policy. A busy one gets a further
/// batch only if that batch is full, or if what runs is so short that the wake-up would be felt: a
/// batch closed early cannot grow any more, and it would only wait in another place.
[[nodiscard]] bool should_close(const policy& rule, const queue_view& queue,
                                const device_view& device, time_point now) noexcept;

/// The instant at which `should_close` turns true if nothing arrives and the device stays as it is;
/// none if only an event can turn it. This is what makes a lone request leave on time.
[[nodiscard]] std::optional<time_point> next_deadline(const policy& rule, const queue_view& queue,
                                                      const device_view& device) noexcept;

} // namespace troupe::batching
